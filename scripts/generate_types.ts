/** Writes src/platform/config/gateway_file.ts from the schema of gateway.yaml; `--check` fails when it is stale. */
import { compile, type JSONSchema } from "json-schema-to-typescript";
import {
  isOptionalBlock,
  resolveSetting,
  type SettingSchema,
} from "../src/platform/config/schema.ts";

const SCHEMA = new URL("../schemas/gateway.schema.json", import.meta.url);
const TARGET = new URL("../src/platform/config/gateway_file.ts", import.meta.url);

const schema = JSON.parse(await Deno.readTextFile(SCHEMA)) as JSONSchema;
requireDefaults(schema as SettingSchema);
// The compiled configuration also has a Model: the one in the file is a ModelEntry.
for (const [name, definition] of Object.entries<JSONSchema>(schema.$defs ?? {})) {
  if (definition.type === "object") definition.title = `${name}_entry`;
}
const written = await compile(schema, "GatewayFile", {
  bannerComment:
    "// Written by `deno task generate` from schemas/gateway.schema.json. Do not edit.",
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  format: true,
});

if (Deno.args.includes("--check")) {
  if (await readTarget() !== written) {
    console.error("src/platform/config/gateway_file.ts is stale: run `deno task generate`.");
    Deno.exit(1);
  }
} else {
  await Deno.writeTextFile(TARGET, written);
}

/** The types are those of a file with its defaults: a key with a default is always there. */
function requireDefaults(part: SettingSchema): void {
  for (const inner of Object.values(part.$defs ?? {})) requireDefaults(inner);
  if (part.items !== undefined) requireDefaults(part.items);
  if (typeof part.additionalProperties === "object") {
    requireDefaults(part.additionalProperties);
  }
  if (part.properties === undefined) return;
  const filledIn = Object.entries(part.properties).filter(([, given]) => {
    const setting = resolveSetting(given);
    return setting.default !== undefined || isOptionalBlock(setting);
  });
  for (const inner of Object.values(part.properties)) requireDefaults(inner);
  if (filledIn.length > 0) {
    part.required = [...part.required ?? [], ...filledIn.map(([key]) => key)];
  }
}

async function readTarget(): Promise<string | null> {
  try {
    return await Deno.readTextFile(TARGET);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
