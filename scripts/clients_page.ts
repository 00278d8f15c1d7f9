import { buildCapabilities } from "../src/app/build_capabilities.ts";
import { compileOrThrow } from "../src/platform/config/compile.ts";
import type { Config } from "../src/platform/config/config.ts";
import { clientsFor } from "../src/site/clients/clients.ts";
import { connectionTo } from "../src/site/clients/connection.ts";

/** The guide that shows how clients are set up. */
export const CLIENTS_PAGE = "docs/use/connect.md";
const PLACE = /(<!-- generated: clients -->\n)[^]*?(<!-- end -->)/;
const BASE_URL = "http://127.0.0.1:8787/v1";

/** The models that the guide shows clients of, each under a heading. */
const MODELS = [["Chat", "sim-chat"], ["Embeddings", "sim-embedding"]] as const;

/**
 * The guide with the clients of the shipped configuration's models: it is also read where no gateway runs. The
 * site shows the clients of its own models in this place.
 */
export function fillInClients(page: string): string {
  if (!PLACE.test(page)) throw new Error(`${CLIENTS_PAGE} has no place for clients`);
  const config = shippedConfig();
  const text = MODELS.map(([title, model]) => `### ${title}\n\n${clientsText(config, model)}`);
  return page.replace(PLACE, (_, start, end) => `${start}${text.join("")}${end}`);
}

function clientsText(config: Config, id: string): string {
  const model = config.models.get(id);
  const connection = model && connectionTo(config, model, { baseUrl: BASE_URL });
  if (!connection) throw new Error(`The shipped configuration does not offer ${id}`);
  return clientsFor(connection).map(({ name, snippets, hint }) => {
    const boxes = snippets.map(({ language, note, text }) =>
      `\`\`\`${`${language} ${note}`.trim()}\n${text}\n\`\`\`\n\n`
    );
    return `**${name}**${hint === undefined ? "" : `. ${hint}`}\n\n${boxes.join("")}`;
  }).join("");
}

function shippedConfig(): Config {
  const url = new URL("../gateway.yaml", import.meta.url);
  return compileOrThrow({
    file: "gateway.yaml",
    source: Deno.readTextFileSync(url),
    environment: {},
    capabilities: buildCapabilities(),
    now: Date.now(),
  }).config;
}
