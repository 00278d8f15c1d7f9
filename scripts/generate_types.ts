/**
 * Writes the types that are made from schemas: src/platform/config/gateway_file.ts (gateway.yaml) and
 * schemas/requests.ts (bodies of requests, each with its schema). `--check` fails when one is stale.
 */
import { compile, type JSONSchema } from "json-schema-to-typescript";
import {
  isOptionalBlock,
  resolveSetting,
  type SettingSchema,
} from "../src/platform/config/schema.ts";

const ROOT = new URL("../", import.meta.url);
const REQUESTS = new URL("schemas/requests/", ROOT);
const STYLE = { additionalProperties: false, ignoreMinAndMaxItems: true, format: true };

async function readSchema(url: URL): Promise<JSONSchema> {
  return JSON.parse(await Deno.readTextFile(url));
}

async function writeGatewayFile(): Promise<string> {
  const schema = await readSchema(new URL("schemas/gateway.schema.json", ROOT));
  requireDefaults(schema as SettingSchema);
  // The compiled configuration also has a Model: the one in the file is a ModelEntry.
  for (const [name, definition] of Object.entries<JSONSchema>(schema.$defs ?? {})) {
    if (definition.type === "object") definition.title = `${name}_entry`;
  }
  return await compile(schema, "GatewayFile", {
    ...STYLE,
    bannerComment:
      "// Written by `deno task generate` from schemas/gateway.schema.json. Do not edit.",
  });
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

/** One type and one entry of `REQUESTS` for each file of schemas/requests. */
async function writeRequests(): Promise<string> {
  const names = [...Deno.readDirSync(REQUESTS)].map(({ name }) => name.split(".")[0]!).sort();
  const requests = await Promise.all(names.map(async (name) => {
    const schema = await readSchema(new URL(`${name}.schema.json`, REQUESTS));
    const type = await compile(schema, schema.title!, { ...STYLE, bannerComment: "" });
    return { name, title: schema.title!, type: asTypeAlias(type) };
  }));
  return [
    "// Written by `deno task generate` from schemas/requests. Do not edit.",
    ...names.map((name) =>
      `import ${name} from "./requests/${name}.schema.json" with { type: "json" };`
    ),
    "",
    "/** The schema of a request body; `Body` is the type of what fits it. */",
    "export interface RequestSchema<Body> {",
    "  readonly name: string;",
    "  readonly schema: Readonly<Record<string, unknown>> & { readonly title: string };",
    "  /** Carries the type only. */",
    "  readonly body?: Body;",
    "}",
    "",
    ...requests.map(({ type }) => type),
    "/** Every request schema, by the name of its file. */",
    "export const REQUESTS = {",
    ...requests.map(({ name, title }) =>
      `  ${name}: { name: "${name}", schema: ${name} } as RequestSchema<${title}>,`
    ),
    "};",
    "",
  ].join("\n");
}

/** An alias, unlike an interface, can be passed where a record is expected. `{}` is an object of any fields. */
function asTypeAlias(text: string): string {
  return text.replace(/^export interface (\w+) \{/gm, "export type $1 = {")
    .replace(/^\}$/gm, "};").replaceAll("{}", "Record<string, unknown>");
}

const FILES: readonly [path: string, write: () => Promise<string>][] = [
  ["src/platform/config/gateway_file.ts", writeGatewayFile],
  ["schemas/requests.ts", writeRequests],
];

async function readTarget(url: URL): Promise<string | null> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

for (const [path, write] of FILES) {
  const url = new URL(path, ROOT);
  const written = await write();
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(url, written);
  else if (await readTarget(url) !== written) {
    console.error(`${path} is stale: run \`deno task generate\`.`);
    Deno.exitCode = 1;
  }
}
