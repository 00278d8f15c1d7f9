import assert from "node:assert/strict";
import { openAdapters } from "../../../providers/registry.ts";
import { compileConfig, compileOrThrow } from "./compile.ts";
import { ConfigError } from "./faults.ts";
import { isVisible, priceInForce } from "./config.ts";

const ADAPTERS = openAdapters();
const DECLARED = `plans: { pro: {} }
providers:
  sim: { adapter: simulator, api_key: "\${SIM_KEY:-}" }
  other: { adapter: simulator }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    upstreams: [{ provider: other }]
    visible_to: { plans: [pro], accounts: [acc_01jc0000000000000000000000] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: per_call, price: "0.01", unit: call }
      - { model: talk, billing_type: per_call, price: "0.02", unit: call, effective_at: 2026-09-01T00:00:00Z }
  partner:
    effective_at: 2026-07-01T00:00:00Z
    extends: default
    entries: [{ model: talk, billing_type: per_call, price: "0.005", unit: call }]
`;

function compiled(source: string, environment: Record<string, string> = {}) {
  const known = { adapters: ADAPTERS, operations: new Set<string>(), requests: new Set<string>() };
  const now = Date.parse("2026-06-01T00:00:00Z");
  return compileOrThrow({ file: "gateway.yaml", source, environment, known, now }).config;
}

Deno.test("the version names what is declared, not how it is written nor what the environment holds", () => {
  const { version } = compiled(DECLARED);
  assert.match(version, /^[0-9a-f]{12}$/);
  assert.equal(compiled(`# a comment\n\n${DECLARED}`).version, version);
  assert.equal(compiled(DECLARED.replaceAll("\n", "\r\n")).version, version);
  assert.equal(
    compiled(DECLARED.replace("id: talk\n    name: Talk", "name: Talk\n    id: talk")).version,
    version,
  );
  assert.equal(compiled(DECLARED, { SIM_KEY: "canary" }).version, version);
  const aliased = DECLARED.replace('"0.01", unit: call', '"0.01", unit: &unit call').replace(
    "unit: call }]",
    "unit: *unit }]",
  );
  assert.equal(compiled(aliased).version, version);
  assert.notEqual(compiled(DECLARED.replace("0.005", "0.006")).version, version);
  assert.notEqual(
    compiled(DECLARED.replace("[chat, streaming]", "[streaming, chat]")).version,
    version,
  );
});

Deno.test("a price takes over by itself at its moment, and a book's own goes before what it extends", () => {
  const { books } = compiled(DECLARED);
  const at = (book: string, moment: string) =>
    priceInForce(books.get(book)!, "talk", Date.parse(moment))?.amounts.price ?? null;
  assert.equal(at("default", "2025-12-31T23:59:59.999Z"), null);
  assert.equal(at("default", "2026-01-01T00:00:00Z"), "0.01");
  assert.equal(at("default", "2026-08-31T23:59:59.999Z"), "0.01");
  assert.equal(at("default", "2026-09-01T00:00:00Z"), "0.02");
  assert.equal(at("partner", "2026-06-30T23:59:59.999Z"), "0.01");
  assert.equal(at("partner", "2026-09-01T00:00:00Z"), "0.005");
  assert.equal(priceInForce(books.get("partner")!, "nobody", Date.now()), null);
});

Deno.test("a model is seen by the plans and the accounts it names, and by nobody else", () => {
  const talk = compiled(DECLARED).models.get("talk")!;
  assert.equal(isVisible(talk, { id: "acc_x", plan: "pro" }), true);
  assert.equal(isVisible(talk, { id: "acc_01jc0000000000000000000000", plan: "free" }), true);
  assert.equal(isVisible(talk, { id: "acc_x", plan: "free" }), false);
});

Deno.test("what clients see of a model holds nothing private", () => {
  const { listJson, detailJson } = compiled(DECLARED).models.get("talk")!;
  const shown = {
    object: "model",
    name: "Talk",
    type: "chat",
    logo: "",
    description: "",
    advantages: [],
    scenarios: [],
  };
  const list = { id: "talk", ...shown, status: "available", capabilities: ["chat", "streaming"] };
  assert.equal(listJson, JSON.stringify(list));
  assert.equal(detailJson, JSON.stringify({ ...list, limits: {} }));
});

Deno.test("who cannot go on without a plan gets every fault in one error", () => {
  assert.throws(
    () =>
      compiled(
        DECLARED.replace("type: chat", "type: chta").replace("provider: other", "provider: othr"),
      ),
    (error) => error instanceof ConfigError && error.faults.length === 2,
  );
});

Deno.test("no number of warnings hides an error", () => {
  const costly = DECLARED.replace(
    "provider: other",
    'provider: other, cost: { price: "9", unit: call }',
  );
  const entries = Array.from(
    { length: 1100 },
    (_, index) =>
      `      - { model: talk, billing_type: per_call, price: "1", unit: call, effective_at: ${
        2027 + index
      }-01-01T00:00:00Z }\n`,
  );
  const source = costly.replace("  partner:\n", `${entries.join("")}  partner:\n`);
  assert.equal(compiled(source).models.size, 1);
  assert.throws(
    () =>
      compiled(`${source}routes: [{ path: /models, operation: list_models, stage: planned }]\n`),
    ConfigError,
  );
});

Deno.test("a file that does not exist as a document gives faults and no plan", () => {
  for (const source of ["", "\uFEFF", "\u0000", "[", "a: *b", "%YAML 9.9\n---\n"]) {
    const known = {
      adapters: ADAPTERS,
      operations: new Set<string>(),
      requests: new Set<string>(),
    };
    const { config, faults } = compileConfig({ file: "f", source, environment: {}, known, now: 0 });
    assert.equal(config, null);
    assert.ok(faults.length > 0, JSON.stringify(source));
  }
});
