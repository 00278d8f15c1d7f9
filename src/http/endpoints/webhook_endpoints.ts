import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointFields,
  findEndpoint,
  listEndpoints,
} from "../../domain/webhooks/endpoints.ts";
import { changeEndpoint, registerEndpoint } from "../../domain/webhooks/register_endpoint.ts";
import { redeliverToEndpoint, sendTest } from "../../domain/webhooks/redeliver.ts";
import { revealSecret, rotateSecret, type SecretOwner } from "../../domain/webhooks/secrets.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readJson } from "../read_json.ts";
import type { Mount } from "./operations.ts";
import { deliveriesOfEndpoint } from "./webhook_deliveries.ts";
import createSchema from "../../../schemas/requests/webhook_endpoints.schema.json" with {
  type: "json",
};
import redeliverSchema from "../../../schemas/requests/webhook_redeliver.schema.json" with {
  type: "json",
};
import rotateSchema from "../../../schemas/requests/webhook_rotate_secret.schema.json" with {
  type: "json",
};

const newEndpoint = bodySchema<EndpointFields>(createSchema);
const changes = bodySchema<Partial<EndpointFields>>({ ...createSchema, required: [] });
const rotation = bodySchema<{ overlap_seconds?: number }>(rotateSchema);
const redelivery = bodySchema<{ since: string }>(redeliverSchema);

/** In place of an endpoint's id: the account's default secret, which signs events sent to a callback_url. */
const DEFAULT = "default";
const NO_STORE = { "cache-control": "no-store" };

/** All endpoints under /v1/webhook_endpoints. */
export function webhookEndpoints({ webhooks }: { webhooks: Webhooks }): Mount[] {
  const { sql, secretBox } = webhooks;
  const act = (
    method: Mount["method"],
    path: string,
    run: (account: string, id: string, c: HttpContext) => Promise<unknown>,
    status = 200,
  ): Mount => ({
    method,
    path,
    endpoint: async (c) =>
      sendJson(
        JSON.stringify(await run(accountOf(c).id, c.req.param("id") ?? "", c)),
        status,
        NO_STORE,
      ),
  });
  return [
    { method: "GET", path: "", endpoint: list(webhooks) },
    act("POST", "", async (account, _, c) => {
      const fields = newEndpoint(await readJson(c));
      const endpoint = await registerEndpoint(webhooks, c.env.config.outbound, account, fields);
      const { secret } = await revealSecret(sql, secretBox, { account, endpoint: endpoint.id });
      return { ...endpoint, secret };
    }, 201),
    act("GET", "/:id", (account, id) => findEndpoint(sql, account, id)),
    act("POST", "/:id", async (account, id, c) => {
      const fields = changes(await readJson(c));
      return await changeEndpoint(webhooks, c.env.config.outbound, { account, id }, fields);
    }),
    act("DELETE", "/:id", async (account, id) => {
      await deleteEndpoint(sql, account, id);
      return { id, object: "webhook_endpoint", deleted: true };
    }),
    act("POST", "/:id/enable", (account, id) => enableEndpoint(sql, account, id)),
    act("POST", "/:id/disable", (account, id) => disableEndpoint(sql, account, id)),
    act("POST", "/:id/test", (account, id) => sendTest(webhooks, account, id), 202),
    act(
      "GET",
      "/:id/secret",
      async (account, id) =>
        await revealSecret(sql, secretBox, await ownerOf(webhooks, account, id)),
    ),
    act("POST", "/:id/rotate_secret", async (account, id, c) => {
      const { overlap_seconds } = rotation(hasBody(c) ? await readJson(c) : {});
      const owner = await ownerOf(webhooks, account, id);
      return await rotateSecret(sql, secretBox, owner, overlap_seconds);
    }),
    act("POST", "/:id/redeliver", async (account, id, c) => {
      const since = new Date(redelivery(await readJson(c)).since);
      const count = await redeliverToEndpoint(webhooks, { account, endpoint: id, since });
      return { object: "webhook_redelivery", endpoint: id, since: since.toISOString(), count };
    }, 202),
    { method: "GET", path: "/:id/deliveries", endpoint: deliveriesOfEndpoint({ webhooks }) },
  ];
}

function list({ sql }: Webhooks): Endpoint {
  return async function listWebhookEndpoints(c) {
    const { data, hasMore } = await listEndpoints(sql, accountOf(c).id, readPage(c));
    return sendJsonPage(data, hasMore);
  };
}

async function ownerOf({ sql }: Webhooks, account: string, id: string): Promise<SecretOwner> {
  if (id === DEFAULT) return { account, endpoint: null };
  return { account, endpoint: (await findEndpoint(sql, account, id)).id };
}

/** Whether the request has a body, for endpoints where it is optional. */
function hasBody(c: HttpContext): boolean {
  const { headers } = c.req.raw;
  return headers.get("content-length") !== "0" &&
    (headers.has("content-length") || headers.has("transfer-encoding"));
}
