import assert from "node:assert/strict";
import { openAdapters } from "../../../providers/registry.ts";
import { compileConfig } from "./compile.ts";
import { describeConfig, type Description } from "./describe.ts";
import { diffConfigs, renderChanges } from "./diff.ts";

const DECLARED = `limits: { default: { requests_per_minute: 600 } }
plans: { partner: { price_book: partner } }
providers:
  sim: { adapter: simulator }
  other: { adapter: openai_compatible, base_url: http://localhost:11434/v1 }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 1000 }
    upstreams:
      - { provider: sim, cost: { input_price: "0.10", unit: 1M tokens } }
      - { provider: other, priority: 1 }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: token, input_price: "0.16", output_price: "0.60", unit: 1M tokens }
  partner:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: per_call, price: "0.03", unit: call }
routes:
  - { path: /models, operation: list_models, stage: planned }
  - { path: /chat/completions, operation: chat, stage: planned }
`;

function described(source: string): Description {
  const { config, issues } = compileConfig({
    file: "gateway.yaml",
    source,
    environment: {},
    capabilities: {
      adapters: openAdapters(),
      operations: new Map([["list_models", { serves: [] }], ["chat", { serves: ["chat"] }]]),
      standardRoutes: [],
      requests: new Set(),
    },
    now: Date.parse("2026-06-01T00:00:00Z"),
  });
  assert.ok(config !== null, JSON.stringify(issues));
  return describeConfig(config);
}

/** The rendered changes after the first text of each pair is replaced by the second. */
function renderedChanges(...pairs: [from: string, to: string][]): string[] {
  let after = DECLARED;
  for (const [from, to] of pairs) {
    assert.ok(after.includes(from), from);
    after = after.replace(from, to);
  }
  return renderChanges(diffConfigs(described(DECLARED), described(after))).split("\n");
}

Deno.test("comments, key order and the version are not changes", () => {
  assert.deepEqual(renderedChanges(["limits:", "# a comment\nlimits:"]), [""]);
  assert.deepEqual(
    renderedChanges(["    name: Talk\n    type: chat\n", "    type: chat\n    name: Talk\n"]),
    [
      "",
    ],
  );
});

Deno.test("a changed price is shown with its percentage", () => {
  assert.deepEqual(renderedChanges(['"0.16"', '"0.18"']), [
    '~ prices.default.talk.input_price: "0.16" → "0.18"  (+12.5 %, +0.02 per 1M tokens)',
  ]);
  assert.deepEqual(renderedChanges(['"0.03"', '"0.02"']), [
    '~ prices.partner.talk.price: "0.03" → "0.02"  (-33.3 %, -0.01 per call)',
  ]);
  assert.deepEqual(renderedChanges(['"0.03"', '"0.06"']), [
    '~ prices.partner.talk.price: "0.03" → "0.06"  (+100.0 %, +0.03 per call)',
  ]);
  assert.deepEqual(renderedChanges(['"0.03"', '"0.029996"']), [
    '~ prices.partner.talk.price: "0.03" → "0.029996"  (-0.0 %, -0.000004 per call)',
  ]);
});

Deno.test("a price that was zero is shown without a percentage", () => {
  assert.deepEqual(renderedChanges(['"0.03"', '"0"']), [
    '~ prices.partner.talk.price: "0.03" → "0"  (-100.0 %, -0.03 per call)',
  ]);
  const free = DECLARED.replace('"0.03"', '"0"');
  assert.deepEqual(
    renderChanges(diffConfigs(described(free), described(DECLARED))),
    '~ prices.partner.talk.price: "0" → "0.03"  (+0.03 per call)',
  );
});

Deno.test("a changed cost is shown with its percentage, and a name that looks like a number without", () => {
  assert.deepEqual(renderedChanges(['"0.10"', '"0.11"']), [
    '~ models.talk.upstreams[0].cost.input_price: "0.10" → "0.11"  (+10.0 %, +0.01 per 1M tokens)',
  ]);
  const [one, two] = ['name: "1"', 'name: "2"'].map((name) =>
    described(DECLARED.replace("name: Talk", name))
  );
  assert.deepEqual(renderChanges(diffConfigs(one!, two!)), '~ models.talk.name: "1" → "2"');
});

Deno.test("a scheduled price is added next to the active one", () => {
  const entry =
    '      - { model: talk, billing_type: per_call, price: "0.04", unit: call, effective_at: 2026-09-01T00:00:00Z }\n';
  assert.deepEqual(renderedChanges(["routes:", `${entry}routes:`]), [
    "+ prices.partner.talk.partner@2026-09-01T00:00:00.000Z  (price 0.04 per call)",
  ]);
});

Deno.test("added and removed models are shown with their type and prices", () => {
  const model =
    "  - { id: constructor, name: C, type: chat, capabilities: [chat], upstreams: [{ provider: sim }] }\n";
  const price = (indent: string) =>
    `${indent}- { model: constructor, billing_type: per_call, price: "1", unit: call }\n`;
  const pairs: [string, string][] = [
    ["prices:", `${model}prices:`],
    ["  partner:\n    effective", `${price("      ")}  partner:\n    effective`],
    ["routes:", `${price("      ")}routes:`],
  ];
  assert.deepEqual(renderedChanges(...pairs), [
    "+ models.constructor  (chat)",
    "+ prices.default.constructor  (price 1 per call)",
    "+ prices.partner.constructor  (price 1 per call)",
  ]);
  const more = pairs.reduce((text, [from, to]) => text.replace(from, to), DECLARED);
  const back = diffConfigs(described(more), described(DECLARED));
  assert.deepEqual(back.map(({ kind, path }) => `${kind} ${path}`), [
    "removed models.constructor",
    "removed prices.default.constructor",
    "removed prices.partner.constructor",
  ]);
});

Deno.test("changed routes and limits are shown with the path of the file", () => {
  assert.deepEqual(
    renderedChanges(["list_models, stage: planned", "list_models, stage: released"]),
    [
      '~ routes./models.stage: "planned" → "released"',
    ],
  );
  assert.deepEqual(
    renderedChanges(["  - { path: /models, operation: list_models, stage: planned }\n", ""]),
    [
      "- routes./models  (list_models)",
    ],
  );
  assert.deepEqual(renderedChanges(["requests_per_minute: 600", "requests_per_minute: 60"]), [
    "~ limits.default.requests_per_minute: 600 → 60",
    "~ plans.free.limits.requests_per_minute: 600 → 60",
    "~ plans.partner.limits.requests_per_minute: 600 → 60",
  ]);
  assert.deepEqual(renderedChanges(["context_tokens: 1000", "context_tokens: 2000"]), [
    "~ models.talk.limits.context_tokens: 1000 → 2000",
  ]);
});

Deno.test("only the changed keys of a list of upstreams are shown", () => {
  assert.deepEqual(renderedChanges(["priority: 1", "priority: 1, timeout_seconds: 9"]), [
    "~ models.talk.upstreams[1].timeout_seconds: 120 → 9",
  ]);
  assert.deepEqual(renderedChanges(["      - { provider: other, priority: 1 }\n", ""]), [
    "- models.talk.upstreams[1]  (other)",
  ]);
});

Deno.test("colors are only there when asked for", () => {
  const changes = diffConfigs(
    described(DECLARED),
    described(DECLARED.replace("name: Talk", "name: Speak")),
  );
  assert.equal(
    renderChanges(changes, { colors: true }),
    '\x1b[33m~ models.talk.name: "Talk" → "Speak"\x1b[0m',
  );
});

Deno.test("an amount whose unit changed is compared per unit, and with another kind of unit not at all", () => {
  assert.deepEqual(
    renderedChanges(
      [
        'input_price: "0.16", output_price: "0.60", unit: 1M tokens',
        'input_price: "0.0002", output_price: "0.0006", unit: 1K tokens',
      ],
    ),
    [
      '~ prices.default.talk.unit: "1M tokens" → "1K tokens"',
      '~ prices.default.talk.input_price: "0.16" → "0.0002"  (+25.0 %, +0.00004 per 1K tokens)',
      '~ prices.default.talk.output_price: "0.60" → "0.0006"  (+0.0 %, +0.00 per 1K tokens)',
    ],
  );
});
