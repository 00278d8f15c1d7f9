import type { Child } from "hono/jsx";
import { isVisible, type ModelReader, statusAt } from "../../platform/config/config.ts";
import { baseUrlOf } from "../base_url.ts";
import type { ModelConnection } from "../clients/client.ts";
import { ConnectPanel, KeyCommand } from "../clients/connect_panel.tsx";
import { connectionTo } from "../clients/connection.ts";
import type { SiteContext } from "../context.ts";
import { Notice, Select } from "../parts.tsx";

/** The part of a guide that shows the clients of the shipped configuration's models, written by generate_docs. */
const CLIENTS_BEGIN = "<!-- generated: clients -->";
const CLIENTS_END = "<!-- end -->";

/** A guide with the clients of this gateway's models in place of the written ones. */
export function withClients(
  c: SiteContext,
  account: ModelReader,
  text: string,
): { text: string; parts: Readonly<Record<string, Child>> } {
  const begin = text.indexOf(CLIENTS_BEGIN);
  const end = text.indexOf(CLIENTS_END, begin);
  if (begin === -1 || end === -1) return { text, parts: {} };
  return {
    text: `${text.slice(0, begin)}<!-- part: clients -->${text.slice(end + CLIENTS_END.length)}`,
    parts: { clients: <Clients c={c} connections={connectionsFor(c, account)} /> },
  };
}

/** Every model that the reader can use. */
function connectionsFor(c: SiteContext, account: ModelReader): ModelConnection[] {
  const { config } = c.env;
  const baseUrl = baseUrlOf(c);
  const now = Date.now();
  return [...config.models.values()]
    .filter((model) => statusAt(model, now) !== "unavailable" && isVisible(model, account))
    .flatMap((model) => connectionTo(config, model, { baseUrl }) ?? []);
}

function Clients({ c, connections }: { c: SiteContext; connections: readonly ModelConnection[] }) {
  const wanted = c.req.query("model");
  const connection = connections.find(({ model }) => model.id === wanted) ??
    connections.find(({ model }) => model.type === "chat") ?? connections[0];
  if (connection === undefined) return <Notice kind="info">No model is available yet.</Notice>;
  return (
    <>
      <p>
        Create an API key in the{" "}
        <a href="/console/keys">console</a>, and set it in your environment:
      </p>
      <KeyCommand connection={connection} />
      <form method="get" action={c.req.path} class="stack">
        <div class="filters">
          <Select
            name="model"
            label="Model"
            value={connection.model.id}
            options={connections.map(({ model }) => [model.id, `${model.name} (${model.id})`])}
          />
          <button type="submit" class="button">Show</button>
        </div>
        <ConnectPanel connection={connection} chosen={c.req.query("client")} />
      </form>
    </>
  );
}
