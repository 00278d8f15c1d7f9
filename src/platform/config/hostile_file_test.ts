import assert from "node:assert/strict";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { assertSound, compileText, SHIPPED } from "../../../test/helpers/valid_config.ts";
import { renderIssues } from "./issues.ts";

/** More of them find more: `FUZZ_RUNS=5000 deno test src/platform/config/robust_test.ts`. */
const RUNS = Number(Deno.env.get("FUZZ_RUNS") ?? 80);
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Every place in the document, as the holder and its key. */
function placesIn(value: Json): { holder: Record<string | number, Json>; key: string | number }[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string | number, Json>;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [{ holder, key }, ...placesIn(holder[key]!)]);
}

const oddText = fc.constantFrom(
  ...[
    "",
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    "default",
    "free",
    "sim-chat",
    "chat",
    "token",
  ],
  ...[
    "${X}",
    "${",
    "$${",
    "${X:-y}",
    "0.1",
    "-1",
    ".nan",
    "2026-01-01T23:59:60Z",
    "9999-12-31T23:59:59-12:00",
  ],
  ...["https://a:99999/", "/models/{model_id}", "\u0000", "\n", "🚀", "\uD800"],
);
const oddValue: fc.Arbitrary<Json> = fc.oneof(
  oddText,
  fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e21, [], {}, [[]], [null], { "": null }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
);
const mutation = fc.record({
  at: fc.nat(),
  what: fc.constantFrom("remove", "replace", "rename", "move", "double"),
  value: oddValue,
  name: oddText,
});

function mutate(
  document: Json,
  changes: { at: number; what: string; value: Json; name: string }[],
): void {
  for (const { at, what, value, name } of changes) {
    const places = placesIn(document);
    if (places.length === 0) return;
    const { holder, key } = places[at % places.length]!;
    const old = holder[key]!;
    if (what === "replace") holder[key] = value;
    else if (what === "double" && Array.isArray(holder)) holder.push(structuredClone(old));
    else if (what === "move") {
      holder[key] = structuredClone(places[(at * 31) % places.length]!.holder);
    } else if (what === "rename") holder[name] = old;
    if (what === "remove" || what === "rename") delete holder[key];
  }
}

Deno.test("a file with keys removed, renamed and swapped compiles or gives issues, and never throws", () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (changes) => {
      const document = parse(SHIPPED) as Json;
      mutate(document, changes);
      assertSound(stringify(document, { aliasDuplicateObjects: false }));
    }),
    { numRuns: RUNS },
  );
});

const noise = fc.record({
  at: fc.nat(SHIPPED.length - 1),
  cut: fc.nat(40),
  put: fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom(
      "\t",
      "\r\n",
      "\r",
      "---\n",
      "...\n",
      "&a ",
      "*a",
      "<<: *a",
      "!x ",
      "? ",
      "|",
      ">",
      "%YAML 1.1\n",
    ),
    fc.constantFrom(
      "{",
      "[",
      "]",
      "}",
      '"',
      "'",
      ": ",
      "- ",
      "#",
      "${",
      "}",
      "\\",
      "\uFEFF",
      "\u0085",
      "\u2028",
    ),
  ),
});

Deno.test("a file with random bytes compiles or gives issues, and never throws", () => {
  fc.assert(
    fc.property(fc.array(noise, { minLength: 1, maxLength: 4 }), (changes) => {
      let source = SHIPPED;
      for (const { at, cut, put } of changes) {
        source = source.slice(0, at) + put + source.slice(at + cut);
      }
      assertSound(source);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("any text compiles or gives issues, and never throws", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), assertSound), {
    numRuns: 300,
  });
});

Deno.test("the value of an environment variable appears in no issue", () => {
  const places = placesIn(parse(SHIPPED) as Json).length;
  const canary = fc.constantFrom(
    "canary",
    "canary 7",
    "canary\nx",
    "CANARY-é",
    "canary".repeat(20),
  );
  fc.assert(
    fc.property(
      fc.array(fc.nat(places), { minLength: 1, maxLength: 5 }),
      canary,
      (positions, held) => {
        const document = parse(SHIPPED) as Json;
        const all = placesIn(document);
        for (const position of positions) {
          const { holder, key } = all[position % all.length]!;
          holder[key] = position % 3 === 0
            ? "${SECRET}"
            : position % 3 === 1
            ? "a ${SECRET} b"
            : "${NO:-x}${SECRET}";
        }
        const source = stringify(document, { aliasDuplicateObjects: false });
        const { config, issues } = compileText(source, { SECRET: held });
        const shown = JSON.stringify(issues) + renderIssues("gateway.yaml", source, issues);
        assert.ok(!shown.toLowerCase().includes("canary"), shown);
        if (config === null) assert.ok(issues.length > 0);
      },
    ),
    { numRuns: RUNS },
  );
});

Deno.test("a model id from the environment is not suggested for a drama's stage", () => {
  const source = SHIPPED.replace("- id: sim-chat\n", "- id: ${SECRET}\n")
    .replace("script: { model: sim-chat }", "script: { model: canary-chot }");
  const { issues } = compileText(source, { SECRET: "canary-chat" });
  const shown = JSON.stringify(issues);
  assert.match(shown, /chain\.script\.model","message":"there is no model \\"canary-chot/);
  assert.ok(!shown.includes("canary-chat"), shown);
});

Deno.test("a secret written into the file is hidden in every excerpt", () => {
  const source = SHIPPED.replace(
    "adapter: simulator\n",
    "adapter: simulatr\n    api_key: sk-live-canary # mine\n",
  )
    .replace(
      "  openai:\n    adapter: openai\n",
      "  openai: { adapter: opnai, api_key: 4711canary, zzz: 1 }\n  o2:\n    adapter: openai\n",
    );
  const { issues } = compileText(source);
  assert.equal(issues.filter(({ message }) => message.startsWith("a secret is written")).length, 2);
  const report = renderIssues("gateway.yaml", source, issues);
  assert.ok(!report.includes("canary"), report);
  assert.match(report, /api_key: •+ # mine/);
});
