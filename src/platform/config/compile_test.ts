import assert from "node:assert/strict";
import { openAdapters } from "../../../providers/registry.ts";
import { compileConfig, compileOrThrow } from "./compile.ts";
import { ConfigError } from "./issues.ts";
import { isVisible, priceInForce } from "./config.ts";

const ADAPTERS = openAdapters();
const SOURCE = `plans: { pro: {} }
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
  const capabilities = {
    adapters: ADAPTERS,
    operations: new Map([["chat", { serves: ["chat" as const] }]]),
    standardRoutes: [],
    requests: new Set<string>(),
  };
  const now = Date.parse("2026-06-01T00:00:00Z");
  return compileOrThrow({ file: "gateway.yaml", source, environment, capabilities, now }).config;
}

Deno.test("the version depends on the content, not on the formatting or the environment", () => {
  const { version } = compiled(SOURCE);
  assert.match(version, /^[0-9a-f]{12}$/);
  assert.equal(compiled(`# a comment\n\n${SOURCE}`).version, version);
  assert.equal(compiled(SOURCE.replaceAll("\n", "\r\n")).version, version);
  assert.equal(
    compiled(SOURCE.replace("id: talk\n    name: Talk", "name: Talk\n    id: talk")).version,
    version,
  );
  assert.equal(compiled(SOURCE, { SIM_KEY: "canary" }).version, version);
  const aliased = SOURCE.replace('"0.01", unit: call', '"0.01", unit: &unit call').replace(
    "unit: call }]",
    "unit: *unit }]",
  );
  assert.equal(compiled(aliased).version, version);
  assert.notEqual(compiled(SOURCE.replace("0.005", "0.006")).version, version);
  assert.notEqual(
    compiled(SOURCE.replace("[chat, streaming]", "[streaming, chat]")).version,
    version,
  );
});

Deno.test("a price becomes active at its start, and a book's own prices come before those of its parents", () => {
  const { books } = compiled(SOURCE);
  const at = (book: string, moment: string) =>
    priceInForce(books.get(book)!, "talk", Date.parse(moment))?.terms.price ?? null;
  assert.equal(at("default", "2025-12-31T23:59:59.999Z"), null);
  assert.equal(at("default", "2026-01-01T00:00:00Z"), "0.01");
  assert.equal(at("default", "2026-08-31T23:59:59.999Z"), "0.01");
  assert.equal(at("default", "2026-09-01T00:00:00Z"), "0.02");
  assert.equal(at("partner", "2026-06-30T23:59:59.999Z"), "0.01");
  assert.equal(at("partner", "2026-09-01T00:00:00Z"), "0.005");
  assert.equal(priceInForce(books.get("partner")!, "unknown", Date.now()), null);
});

Deno.test("a model is visible to the configured plans and accounts only", () => {
  const talk = compiled(SOURCE).models.get("talk")!;
  assert.equal(isVisible(talk, { id: "acc_x", plan: "pro" }), true);
  assert.equal(isVisible(talk, { id: "acc_01jc0000000000000000000000", plan: "free" }), true);
  assert.equal(isVisible(talk, { id: "acc_x", plan: "free" }), false);
});

Deno.test("the published JSON of a model contains nothing private", () => {
  const { listJson, detailJson } = compiled(SOURCE).models.get("talk")!;
  const shown = {
    object: "model",
    name: "Talk",
    type: "chat",
    logo: "",
    description: "",
    advantages: [],
    scenarios: [],
  };
  const list = {
    id: "talk",
    ...shown,
    status: "available",
    capabilities: ["chat", "streaming"],
    created: Date.parse("2026-01-01T00:00:00Z") / 1000,
    owned_by: "Tollgate",
  };
  assert.equal(listJson, JSON.stringify(list));
  assert.equal(detailJson, JSON.stringify({ ...list, limits: {} }));
});

Deno.test("compileOrThrow throws one error with all issues", () => {
  assert.throws(
    () =>
      compiled(
        SOURCE.replace("type: chat", "type: chta").replace("provider: other", "provider: othr"),
      ),
    (error) => error instanceof ConfigError && error.issues.length === 2,
  );
});

Deno.test("an error is reported after any number of warnings", () => {
  const costly = SOURCE.replace(
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

Deno.test("a file that cannot be parsed gives issues and no configuration", () => {
  for (const source of ["", "\uFEFF", "\u0000", "[", "a: *b", "%YAML 9.9\n---\n"]) {
    const capabilities = {
      adapters: ADAPTERS,
      operations: new Map(),
      standardRoutes: [],
      requests: new Set<string>(),
    };
    const { config, issues } = compileConfig({
      file: "f",
      source,
      environment: {},
      capabilities,
      now: 0,
    });
    assert.equal(config, null);
    assert.ok(issues.length > 0, JSON.stringify(source));
  }
});

Deno.test("a file without routes has the standard routes of this build", () => {
  const { routes } = compileOrThrow({
    file: "gateway.yaml",
    source: SOURCE,
    environment: {},
    capabilities: {
      adapters: ADAPTERS,
      operations: new Map([["generation", { serves: ["image"] }], ["chat", { serves: ["chat"] }]]),
      standardRoutes: [
        { path: "/chat/completions", operation: "chat", stage: "released" },
        { path: "/images/generations", operation: "generation", type: "image", stage: "planned" },
      ],
      requests: new Set(),
    },
    now: Date.now(),
  }).config;
  assert.deepEqual(
    routes.map(({ operation, stage, request }) => [operation, stage, request]),
    [["chat", "released", null], ["generation", "planned", "images_generations"]],
  );
});

Deno.test("a deprecated model and route have the values of the headers", () => {
  const dates = "deprecated_at: 2026-05-01T00:00:00Z, sunset_at: 2026-12-01T00:00:00+01:00";
  const source = SOURCE.replace(
    "type: chat",
    `type: chat\n    status: deprecated
    ${dates.replace(", ", "\n    ")}`,
  ) +
    `routes: [{ path: /chat/completions, operation: chat, stage: planned, ${dates} }]\n`;
  const { models, routes } = compiled(source);
  const notice = { deprecation: "@1777593600", sunset: "Mon, 30 Nov 2026 23:00:00 GMT" };
  assert.deepEqual(models.get("talk")!.notice, notice);
  assert.deepEqual(routes[0]!.notice, notice);
});

Deno.test("the pipeline of a drama takes durations and voices from its models, and prompts from the schema", () => {
  const file = "../../../test/config_cases/a_pipeline_of_a_drama_is_shown_as_configured.yaml";
  const golden = Deno.readTextFileSync(new URL(file, import.meta.url));
  const { models } = compiled(golden.split(/^---\n/m)[0]!);
  const { script, roles, video, tries } = models.get("play")!.pipeline!;
  assert.match(script.prompt, /^You are a screenwriter\./);
  assert.deepEqual([roles.offered, tries], [true, 3]);
  assert.ok(video.offered && video.speech.offered);
  assert.deepEqual([video.duration, video.speech.voices], [5, ["alma"]]);
});

Deno.test("a file that sets nothing has the defaults of the schema", () => {
  const { service, storage, limits, plans, providers } = compiled(SOURCE);
  assert.deepEqual([service.name, service.baseUrl, storage.s3], ["Tollgate", null, null]);
  assert.equal(storage.uploads.imageBytesMax, 16 * 1024 ** 2);
  assert.equal(limits.default.requestsPerMinute, 600);
  assert.deepEqual([...plans.keys()], ["free", "pro"]);
  assert.deepEqual(plans.get("pro")!.rates, limits.default);
  assert.equal(providers.get("sim")!.timeoutSeconds, 120);
});

Deno.test("a plan takes the limits that it does not set from limits.default", () => {
  const { plans } = compiled(
    SOURCE.replace("pro: {}", "pro: { limits: { running_tasks: 7 } }") +
      "limits: { default: { requests_per_minute: 60 } }\n",
  );
  const { requestsPerMinute, tokensPerMinute, runningTasks } = plans.get("pro")!.rates;
  assert.deepEqual([requestsPerMinute, tokensPerMinute, runningTasks], [60, 1_000_000, 7]);
});
