import { join } from "node:path";
import Ajv2020, { type AnySchemaObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { filesOf, type Pattern, patternsInCode } from "./find_patterns.ts";

const ROOT = join(import.meta.dirname!, "../..");

/** The patterns that stand in the JSON Schemas. */
export async function patternsInSchemas(): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  for (const file of await filesOf(["schemas/**/*.json"])) {
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        const where = `${file}#${path}/${key}`;
        // Ajv compiles every pattern with this flag.
        const add = (source: string) => patterns.push({ where, source, flags: "u" });
        if (key === "pattern" && typeof inner === "string") add(inner);
        if (key === "patternProperties" && typeof inner === "object") {
          Object.keys(inner as object).forEach(add);
        }
        visit(inner, `${path}/${key}`);
      }
    };
    visit(JSON.parse(Deno.readTextFileSync(join(ROOT, file))), "");
  }
  return patterns;
}

/** The regular expressions that Ajv's compiled check of a schema holds: of `pattern` and of formats. */
export function patternsInCompiled(file: string): Pattern[] {
  const ajv = new Ajv2020.default({ code: { source: true }, strict: false });
  addFormats.default(ajv);
  const schema: AnySchemaObject = JSON.parse(Deno.readTextFileSync(join(ROOT, file)));
  const scope = ajv.compile(schema).source!.scopeValues;
  const held = Object.values(scope).flatMap((names) => [...names ?? []])
    .map(({ value }) => value?.ref);
  return held.filter((value) => value instanceof RegExp).map(({ source, flags }) => ({
    where: `${file}, compiled`,
    source,
    flags,
  }));
}

/** Those of ajv-formats that no compiled check holds itself: functions for dates and addresses use them. */
export function patternsOfFormatFunctions(): Pattern[] {
  const index = new URL(import.meta.resolve("ajv-formats")).pathname;
  const code = Deno.readTextFileSync(join(index, "../formats.js"));
  const lines = code.split("\n");
  return patternsInCode("ajv-formats/dist/formats.js", code).literals.filter(({ where }) =>
    lines[Number(where.split(":")[1]) - 1]!.startsWith("const ")
  );
}
