/**
 * Writes src/domain/catalogue/starter/shipped_models.json: the models of the shipped gateway.yaml with their upstreams, costs
 * and prices, from which `gateway init` chooses. An operator's own gateway.yaml takes the place of the shipped one, so
 * the command cannot read that. `--check` fails when it is stale.
 */
import { fileURLToPath } from "node:url";
import { loadYaml } from "../src/lib/yaml/load_yaml.ts";
import type { ShippedModels } from "../src/domain/catalogue/starter/make_starter.ts";
import type { GatewayFile } from "../src/platform/config/gateway_file.ts";

const ROOT = new URL("../", import.meta.url);
const SOURCE = new URL("gateway.yaml", ROOT);
const TARGET = new URL("src/domain/catalogue/starter/shipped_models.json", ROOT);

/** Without models that only some plans see, and without those that are made of other models. */
export function shippedModels(text: string): ShippedModels {
  const file = loadYaml("gateway.yaml", text, null).value as GatewayFile;
  const models = file.models.flatMap(({ upstreams, visible_to, ...model }) =>
    upstreams === undefined || visible_to !== undefined ? [] : [{ ...model, upstreams }]
  );
  const ids = new Set(models.map(({ id }) => id));
  const { effective_at, entries } = file.prices.default!;
  return { effective_at, models, entries: entries.filter(({ model }) => ids.has(model)) };
}

if (import.meta.main) {
  const text = `${JSON.stringify(shippedModels(await Deno.readTextFile(SOURCE)), null, 2)}\n`;
  if (Deno.args.includes("--check")) {
    if (await Deno.readTextFile(TARGET) !== text) {
      console.error(`${fileURLToPath(TARGET)} is stale: run \`deno task generate\`.`);
      Deno.exit(1);
    }
  } else {
    await Deno.writeTextFile(TARGET, text);
  }
}
