import { SHAPES } from "../../src/platform/telemetry/scrub.ts";
import assert from "node:assert/strict";
import { whyNotLinear, withSmallCounts } from "./check_pattern.ts";
import { readProven, writeProven } from "./proven_patterns.ts";
import { type BuiltPattern, filesOf, type Pattern, patternsInCode } from "./find_patterns.ts";
import {
  patternsInCompiled,
  patternsInSchemas,
  patternsOfFormatFunctions,
} from "./schema_patterns.ts";

/**
 * Patterns that are not linear, or that the checker cannot decide, by how they begin. Only for input that
 * is short by a bound, or that is the operator's.
 */
const EXCEPTIONS: readonly { begins: string; because: string }[] = [
  {
    begins: String.raw`/\[--[^\]]*\]|--\S+ <[^>]*>/`,
    because: "reads the usage lines of the command line, which stand in the code",
  },
  {
    begins: String
      .raw`/^(?:[a-z][a-z0-9+\-.]*:)(?:\/?\/(?:(?:[a-z0-9\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*@)?`,
    because: "the format uri of ajv-formats: addresses in the operator's configuration only",
  },
];

/** Patterns that are put together when the code runs, each with an example that is checked instead. */
const BUILT: Readonly<Record<string, string>> = {
  // One shape of many: all together are too much for the checker, and src/platform/telemetry/log_test.ts measures them.
  'new RegExp(SHAPES.join("|"), "gi")': SHAPES[1]!,
  // Secrets of the environment, as plain text.
  'new RegExp(all.map((value) => RegExp.escape(value)).join("|"), "g")': "secret-one|secret-two",
  // Names of secrets in gateway.yaml.
  'new RegExp(`(${KEY}${COLON})(${VALUE})`, "g")':
    `(\\b(?:api_key|client_secret)["']?[ \\t]*:[ \\t]*["']?)([^\\s"'][^"',}#\\r\\n]*)`,
  // Addresses and model ids in the guides.
  'new RegExp(`${TEXTS}|sim-(?:${MODEL_TYPES.join("|")})`, "g")':
    `http://127\\.0\\.0\\.1:8787(?:/v1)?|TOLLGATE|Tollgate|"tollgate"|sim-(?:chat|image|video)`,
  'new RegExp(`<${tag}>([^<]*)</${tag}>`, "g")': "<Key>([^<]*)</Key>",
};

/** The checker leaves a message port open. */
const LEAKS_A_PORT = { sanitizeResources: false };

const CODE = ["src/**/*.{ts,tsx}", "providers/**/*.{ts,tsx}"];

async function patternsOfProject(): Promise<{ patterns: Pattern[]; built: BuiltPattern[] }> {
  const files = (await filesOf(CODE)).filter((file) => !/_test\.tsx?$/.test(file));
  const found = files.map((file) => patternsInCode(file));
  const schemas = await filesOf(["schemas/**/*.json"]);
  return {
    patterns: [
      ...found.flatMap(({ literals }) => literals),
      ...await patternsInSchemas(),
      ...schemas.flatMap(patternsInCompiled),
      ...patternsOfFormatFunctions(),
    ],
    built: found.flatMap(({ built }) => built),
  };
}

Deno.test(
  "every pattern in the code, the schemas and their compiled checks takes linear time",
  LEAKS_A_PORT,
  async () => {
    const { patterns, built } = await patternsOfProject();
    assert.ok(patterns.length > 200, `only ${patterns.length} patterns were found`);
    for (const { where, text } of built) {
      assert.ok(
        text in BUILT,
        `${where}: ${text} is built at run time: add an example of it to BUILT`,
      );
      patterns.push({ where, source: BUILT[text]!, flags: "" });
    }
    const byText = Map.groupBy(patterns, ({ source, flags }) => `/${source}/${flags}`);
    const faults: string[] = [];
    const proven = await readProven();
    const linear: string[] = [];
    for (const [text, places] of byText) {
      if (EXCEPTIONS.some(({ begins }) => text.startsWith(begins))) continue;
      if (proven.has(text)) {
        linear.push(text);
        continue;
      }
      const [{ source, flags }] = places as [Pattern];
      const where = places.map((place) => place.where).join(", ");
      const reason = whyNotLinear(source, flags);
      if (reason === null) linear.push(text);
      else faults.push(`${where}: ${text}\n  ${reason.slice(0, 300)}`);
    }
    assert.equal(faults.length, 0, faults.join("\n"));
    await writeProven(linear);
    for (const { begins } of EXCEPTIONS) {
      assert.ok([...byText.keys()].some((text) => text.startsWith(begins)), `not there: ${begins}`);
    }
  },
);

Deno.test("no schema of a request names the formats uri and url, whose patterns are not linear", async () => {
  for (const file of await filesOf(["schemas/requests/*.json"])) {
    assert.doesNotMatch(await Deno.readTextFile(file), /"format": *"ur[il]/, file);
  }
});

Deno.test("the checker finds the patterns that once stopped a node", LEAKS_A_PORT, () => {
  const quoted = String
    .raw`;[ \t]*(name|filename)[ \t]*=[ \t]*(?:"((?:\\["\\]|[^"])*)"|([^\s;"]*))`;
  assert.match(whyNotLinear(quoted, "gi") ?? "", /exponential/);
  assert.match(
    whyNotLinear(String.raw`^\/[!-~]*?(?:\?[!-~]*)?$`, "") ?? "",
    /2nd degree polynomial/,
  );
  assert.match(whyNotLinear(String.raw`\s+$`, "") ?? "", /2nd degree polynomial/);
  assert.match(whyNotLinear(String.raw`^(a{1,90})*$`, "") ?? "", /exponential/);
  assert.equal(whyNotLinear(String.raw`^[a-z]{1,64}$`, ""), null);
});

Deno.test("counts are made smaller, and nothing else", () => {
  assert.equal(
    withSmallCounts(String.raw`^\d{1,20}[{9,9}]\p{L}\u{1f600}\{7}x{64}y{9,}?$`),
    String.raw`^\d{1,4}[{9,9}]\p{L}\u{1f600}\{7}x{4}y{3,}?$`,
  );
});
