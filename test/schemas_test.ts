import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";

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

Deno.test("the declaration's schema is closed and explains every key", () => {
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
      const target = typeof property.$ref === "string"
        ? schema.$defs[property.$ref.split("/").at(-1)!]
        : {};
      assert.ok(property.description ?? target.description, `${path}.${name} has no description`);
      blocks.push([`${path}.${name}`, property]);
    }
    for (const [name, def] of Object.entries(block.$defs ?? {})) {
      blocks.push([`$defs.${name}`, def as never]);
    }
  }
  assert.ok(keys > 80, String(keys));
});

Deno.test("what a request's pattern or format expects is said in words, never as an expression", () => {
  const worded = new Set(["date-time", "email"]);
  let seen = 0;
  const look = (schema: Record<string, unknown>, path: string) => {
    const { pattern, format, expected, properties, items } = schema;
    if (pattern !== undefined || format !== undefined) {
      seen++;
      assert.ok(expected !== undefined || worded.has(format as string), `${path} has no words`);
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      look(property, `${path}.${name}`);
    }
    if (items !== undefined) look(items as typeof schema, `${path}.0`);
  };
  for (const file of schemaFiles(new URL("requests/", FOLDER))) {
    look(JSON.parse(Deno.readTextFileSync(file)), file.pathname.split("/").at(-1)!);
  }
  assert.ok(seen >= 6, String(seen));
});
