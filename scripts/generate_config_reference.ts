/**
 * Writes docs/operate/configuration.md from schemas/gateway.schema.json: every key with its type, default,
 * allowed values and description. `--check` fails when the page is stale.
 */
import { fileURLToPath } from "node:url";
import {
  GATEWAY_SCHEMA,
  resolveSetting,
  type SettingSchema,
} from "../src/platform/config/schema.ts";

const PAGE = new URL("../docs/operate/configuration.md", import.meta.url);
/** Longer lists of allowed values are shown in the description, not in the type column. */
const SHORT_LIST_MAX = 60;
/** Longer defaults, such as prompts, are shown below the table. */
const SHORT_DEFAULT_MAX = 100;

/** A block of keys that gets a section and a table of its own. */
interface Block {
  path: string;
  schema: SettingSchema;
}

/** The whole page. */
export function configReference(root: SettingSchema): string {
  const sections = blocksOf(root).map((block) => renderBlock(block, root));
  return [
    "<!-- Written by `deno task generate` from schemas/gateway.schema.json. Do not edit. -->",
    "# Configuration reference",
    "",
    root.description!,
    "",
    "The file is `gateway.yaml`, or the file that the environment variable `GATEWAY_CONFIG` names. Unknown keys are",
    "errors. `deno task gateway check` shows every error with its line. A running gateway reloads the file when it",
    "is saved, on `SIGHUP` and on `deno task gateway reload`; a file with errors changes nothing.",
    "",
    "Every text may contain `${NAME}` (the environment variable must be set) or `${NAME:-default}`; `$${` is a plain",
    "`${`. Secrets must be written this way. Editors with a YAML language server complete and explain every key when",
    "the first line of the file is",
    "`# yaml-language-server: $schema=./schemas/gateway.schema.json`.",
    "",
    "In the paths below, `<name>` is a name of your choice and `[]` is an item of a list. Keys marked with `*` are",
    "required.",
    "",
    ...sections,
  ].join("\n");
}

/** Every block of keys, in the order of the schema, each before the blocks inside of it. */
function blocksOf(root: SettingSchema): Block[] {
  const blocks: Block[] = [];
  const visit = (path: string, given: SettingSchema): void => {
    const schema = resolveSetting(given, root);
    if (schema.items !== undefined) visit(`${path}[]`, schema.items);
    if (typeof schema.additionalProperties === "object") {
      visit(`${path}.<name>`, schema.additionalProperties);
    }
    if (schema.properties === undefined) return;
    blocks.push({ path, schema });
    for (const [key, inner] of Object.entries(schema.properties)) {
      visit(path === "" ? key : `${path}.${key}`, inner);
    }
  };
  visit("", root);
  return blocks;
}

function renderBlock({ path, schema }: Block, root: SettingSchema): string {
  const heading = path === "" ? "## Sections" : `## \`${path}\``;
  const settings = Object.entries(schema.properties ?? {}).map(([key, given]) =>
    [key, resolveSetting(given, root)] as const
  );
  const rows = settings.map(([key, setting]) => {
    const mark = schema.required?.includes(key) ? "\\*" : "";
    const cells = [`\`${key}\`${mark}`, typeOf(setting, root), defaultOf(setting)];
    return `| ${[...cells, describe(setting)].map(escapeCell).join(" | ")} |`;
  });
  return [
    heading,
    "",
    ...(path === "" ? [] : [schema.description ?? "", ""]),
    "| Key | Type | Default | Description |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...settings.filter(([, setting]) => isLongDefault(setting)).flatMap(([key, setting]) => [
      `Default of \`${key}\`:`,
      "",
      "```text",
      String(setting.default),
      "```",
      "",
    ]),
  ].join("\n");
}

function typeOf(schema: SettingSchema, root: SettingSchema): string {
  if (schema.secret === true) return "secret";
  if (schema.enum !== undefined) {
    const values = allowedValues(schema.enum);
    return values.length > SHORT_LIST_MAX ? "string" : `one of ${values}`;
  }
  if (typeof schema.type === "object") return `${schema.type[0]}, or a list`;
  if (schema.type === "array") return `list: ${typeOf(resolveSetting(schema.items!, root), root)}`;
  if (schema.type === "object") {
    if (typeof schema.additionalProperties !== "object") {
      return schema.properties === undefined ? "any keys" : "block";
    }
    const inner = typeOf(resolveSetting(schema.additionalProperties, root), root);
    return inner === "block" ? "blocks by name" : `${inner} by name`;
  }
  if (schema.type === "integer") return `integer${rangeOf(schema)}`;
  return schema.type ?? "any value";
}

function allowedValues(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(", ");
}

function rangeOf({ minimum, maximum }: SettingSchema): string {
  if (minimum === undefined && maximum === undefined) return "";
  return `, ${minimum ?? "…"} to ${maximum ?? "…"}`;
}

function defaultOf(schema: SettingSchema): string {
  if (schema.default === undefined) return "";
  if (isLongDefault(schema)) return "see below";
  const text = JSON.stringify(schema.default);
  return ['""', "[]", "{}"].includes(text) ? "empty" : `\`${text}\``;
}

function isLongDefault({ default: value }: SettingSchema): boolean {
  return typeof value === "string" && value.length > SHORT_DEFAULT_MAX;
}

function describe(schema: SettingSchema): string {
  const sentences = [schema.description ?? ""];
  if (schema.expected !== undefined && schema.secret !== true) {
    sentences.push(`Format: ${schema.expected}.`);
  }
  const values = allowedValues(schema.enum ?? schema.items?.enum ?? []);
  if (values.length > SHORT_LIST_MAX) sentences.push(`Allowed values: ${values}.`);
  if (schema.maxLength !== undefined) sentences.push(`At most ${schema.maxLength} characters.`);
  if (schema.maxItems !== undefined) sentences.push(`At most ${schema.maxItems} items.`);
  return sentences.join(" ").trim();
}

/** A `|` would end the cell, and `<` would begin HTML. */
function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/(?<!`)<(?!`)/g, "&lt;");
}

if (import.meta.main) {
  const page = configReference(GATEWAY_SCHEMA);
  if (Deno.args.includes("--check")) {
    if (await readPage() !== page) {
      console.error(`${fileURLToPath(PAGE)} is stale: run \`deno task generate\`.`);
      Deno.exit(1);
    }
  } else {
    await Deno.writeTextFile(PAGE, page);
  }
}

async function readPage(): Promise<string | null> {
  try {
    return await Deno.readTextFile(PAGE);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
