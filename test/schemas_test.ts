import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import { resolveSetting } from "../src/platform/config/schema.ts";

const FOLDER = new URL("../schemas/", import.meta.url);

function schemaFiles(folder: URL): URL[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) =>
    entry.isDirectory
      ? schemaFiles(new URL(`${entry.name}/`, folder))
      : entry.name.endsWith(".schema.json")
      ? [new URL(entry.name, folder)]
      : []
  );
}

Deno.test("every published schema is valid JSON Schema 2020-12", () => {
  const ajv = new Ajv2020.default({ strict: false });
  const files = schemaFiles(FOLDER);
  assert.ok(files.length >= 8);
  for (const file of files) {
    const schema = JSON.parse(Deno.readTextFileSync(file));
    assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema", file.pathname);
    assert.ok(ajv.validateSchema(schema), `${file.pathname}: ${JSON.stringify(ajv.errors)}`);
  }
});

Deno.test("the configuration's schema is closed and explains every key", () => {
  const schema = JSON.parse(Deno.readTextFileSync(new URL("gateway.schema.json", FOLDER)));
  const blocks: [string, Record<string, unknown>][] = [["", schema]];
  let keys = 0;
  for (let at = 0; at < blocks.length; at++) {
    const [path, block] = blocks[at]!;
    const properties = block.properties as Record<string, Record<string, unknown>> | undefined;
    if (properties !== undefined && block.type === "object") {
      assert.equal(block.additionalProperties, false, `${path} takes unknown keys`);
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      if (typeof property !== "object" || block.type !== "object") continue;
      keys++;
      assert.ok(resolveSetting(property).description, `${path}.${name} has no description`);
      blocks.push([`${path}.${name}`, property]);
    }
    for (const [name, def] of Object.entries(block.$defs ?? {})) {
      blocks.push([`$defs.${name}`, def as never]);
    }
  }
  assert.ok(keys > 80, String(keys));
});

Deno.test("what a pattern or format expects of people is said in words, never as an expression", () => {
  const worded = new Set(["date-time", "email", "uri"]);
  let seen = 0;
  const look = (node: unknown, path: string) => {
    if (typeof node !== "object" || node === null) return;
    const { pattern, format, expected } = node as Record<string, unknown>;
    if (typeof pattern === "string" || typeof format === "string") {
      seen++;
      const isWorded = pattern === undefined && worded.has(String(format));
      assert.ok(typeof expected === "string" || isWorded, `${path} has no words`);
    }
    for (const [name, value] of Object.entries(node)) look(value, `${path}.${name}`);
  };
  const read = [new URL("gateway.schema.json", FOLDER), new URL("provider.schema.json", FOLDER)];
  for (const file of [...read, ...schemaFiles(new URL("requests/", FOLDER))]) {
    look(JSON.parse(Deno.readTextFileSync(file)), file.pathname.split("/").at(-1)!);
  }
  assert.ok(seen >= 50, String(seen));
});
