import assert from "node:assert/strict";
import { clientsFor, type ReadyClient } from "../../src/site/clients/clients.ts";
import { connectionTo } from "../../src/site/clients/connection.ts";
import type { TestGateway } from "./open_gateway.ts";

/** The clients of a model as the site shows them, with the gateway's own key. */
export function setupsOf(gateway: TestGateway, model: string): ReadyClient[] {
  const config = gateway.gateway.configStore.current;
  const connection = connectionTo(config, config.models.get(model)!, {
    baseUrl: `${gateway.address}/v1`,
    key: gateway.key,
  });
  assert.ok(connection, `${model} can be reached`);
  return clientsFor(connection);
}

/** The texts of one client's setup, in order. */
export function setupOf(gateway: TestGateway, model: string, client: string): string[] {
  const found = setupsOf(gateway, model).find(({ id }) => id === client);
  assert.ok(found, `${client} can use ${model}`);
  return found.snippets.map(({ text }) => text);
}
