import assert from "node:assert/strict";
import { importNewApi } from "./import_new_api.ts";
import { ImportError } from "./imported.ts";
import { PriceList } from "./price_list.ts";

const OPTIONS = { priceList: null, markup: "1", now: Date.parse("2026-11-16T12:00:00Z") };
const LIST = new PriceList(JSON.stringify({
  m: {
    litellm_provider: "openai",
    mode: "chat",
    input_cost_per_token: 1e-6,
    output_cost_per_token: 3e-6,
    max_input_tokens: 1000,
    max_output_tokens: 100,
  },
}));

const channel = (fields: object = {}) => ({ id: 1, type: 1, status: 1, models: "m", ...fields });

/** One channel with the model `m`, and these options. */
function importOptions(options: Record<string, unknown>, more: object = {}) {
  const stored = Object.entries(options).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const dump = { channels: [channel()], options: Object.fromEntries(stored), ...more };
  return importNewApi("dump.json", JSON.stringify(dump), OPTIONS);
}

const priceOf = (imported: ReturnType<typeof importOptions>, book = "default") => {
  const { input_price, output_price, price } = imported.draft.prices[book]!.entries[0]!;
  return price ?? [input_price, output_price];
};

Deno.test("a ratio of 1 is two dollars for a million tokens, and groups multiply it", () => {
  const cases: [options: Record<string, unknown>, price: unknown][] = [
    [{ ModelRatio: { m: 1 }, CompletionRatio: { m: 3 } }, ["2.00", "6.00"]],
    [{ ModelRatio: { m: 0.075 }, CompletionRatio: { m: 4 } }, ["0.15", "0.60"]],
    // 0.3 × 8.333… is 2.50, whatever binary arithmetic says.
    [{ ModelRatio: { m: 0.15 }, CompletionRatio: { m: 2.5 / 0.3 } }, ["0.30", "2.50"]],
    [{ ModelRatio: { m: 1 }, CompletionRatio: { m: 1 }, GroupRatio: { default: 0.5 } }, [
      "1.00",
      "1.00",
    ]],
    [{ ModelRatio: { m: 1 }, CompletionRatio: { m: 1 }, QuotaPerUnit: "1000000" }, [
      "1.00",
      "1.00",
    ]],
    [{ ModelRatio: { m: 0 }, CompletionRatio: { m: 1 } }, ["0.00", "0.00"]],
    [{ ModelPrice: { m: 0.01 }, ModelRatio: { m: 1 } }, "0.01"],
  ];
  for (const [options, price] of cases) {
    assert.deepEqual(priceOf(importOptions(options)), price, JSON.stringify(options));
  }
});

Deno.test("a group of users pays its factor, also where the default group pays nothing", () => {
  const users = [{ id: 1, username: "a", status: 1, group: "VIP 客户" }];
  const imported = importOptions(
    {
      ModelRatio: { m: 1 },
      CompletionRatio: { m: 2 },
      GroupRatio: { default: 0, "VIP 客户": 0.8 },
    },
    { users, channels: [channel({ group: "default,VIP 客户" })] },
  );
  assert.deepEqual(priceOf(imported), ["0.00", "0.00"]);
  assert.deepEqual(priceOf(imported, "vip"), ["1.60", "3.20"]);
  assert.equal(imported.accounts[0]!.plan, "vip");
  assert.equal(imported.draft.plans.vip!.price_book, "vip");
});

Deno.test("what new-api charges is never guessed: the price page, then the options, then a price list", () => {
  const ratio = { ModelRatio: { m: 1 } };
  const shown = (fields: object) => ({
    pricing: { data: [{ model_name: "m", quota_type: 0, model_ratio: 1, ...fields }] },
  });
  assert.deepEqual(priceOf(importOptions(ratio, shown({ completion_ratio: 5 }))), [
    "2.00",
    "10.00",
  ]);
  assert.throws(() => importOptions(ratio), /m: no price of its output: add the answer/);
  for (const completion of [-1, 1e21]) {
    const absurd = { ...ratio, CompletionRatio: { m: completion } };
    assert.throws(() => importOptions(absurd), /m: no price of its output:/);
  }
  assert.throws(() => importOptions({}), /m: no price: neither the dump nor --prices/);
  // What new-api shows for a model that it has no price for.
  assert.throws(() => importOptions({}, shown({ model_ratio: 37.5 })), /m: no price:/);
  assert.throws(
    () => importOptions(ratio, shown({ billing_mode: "tiered_expr" })),
    /m: its price is an expression/,
  );
  const dump = { channels: [channel()], options: { ModelRatio: '{"m":1}' } };
  const read = (source: object, markup: string) =>
    importNewApi("d", JSON.stringify(source), { ...OPTIONS, priceList: LIST, markup });
  assert.deepEqual(priceOf(read(dump, "1")), ["2.00", "6.00"]);
  const listed = read({ channels: [channel()] }, "1.5");
  assert.deepEqual(priceOf(listed), ["1.50", "4.50"]);
  const [model] = listed.draft.models;
  assert.deepEqual(model!.limits, { context_tokens: 1000, max_output_tokens: 100 });
  assert.equal(model!.upstreams[0]!.cost!.input_price, "1.00");
});

Deno.test("what is wrong with a dump is said with its path, and without its values", () => {
  const cases: [text: string, message: RegExp][] = [
    ["", /^dump\.json.* is not JSON: see docs\/operate\/migrate\.md/],
    ['{"channels": [sk-secret', /^dump\.json.* is not JSON/],
    ["[]", /^dump\.json: the file: /],
    ["{}", /^dump\.json: channels: /],
    ['{"channels": [{"id": "sk-secret"}]}', /^dump\.json: channels\[0\]\.id: /],
    [
      '{"channels": [], "options": {"ModelRatio": "sk-secret"}}',
      /options\.ModelRatio: expected a JSON object of numbers$/,
    ],
    [
      '{"channels": [], "options": {"ModelRatio": "{\\"m\\": \\"1\\"}"}}',
      /options\.ModelRatio: expected a JSON object of numbers$/,
    ],
    [
      JSON.stringify({ channels: [channel({ model_mapping: "gpt-4=gpt-4o" })] }),
      /channels\[0\]\.model_mapping: expected a JSON object$/,
    ],
    ['{"channels": []}', /^dump\.json: no model can be imported\.$/],
  ];
  for (const [text, message] of cases) {
    const refused = { name: ImportError.name, message };
    assert.throws(() => importNewApi("dump.json", text, OPTIONS), refused, text);
    assert.throws(
      () => importNewApi("dump.json", text, OPTIONS),
      (error: Error) => !error.message.includes("sk-secret"),
    );
  }
  const channels = Array.from({ length: 100 }, () => ({}));
  assert.throws(() => importNewApi("d", JSON.stringify({ channels }), OPTIONS), /… and \d+ more$/);
  const many = Array.from({ length: 10_001 }, (_, id) => channel({ id }));
  assert.throws(() => importNewApi("d", JSON.stringify({ channels: many }), OPTIONS), /channels: /);
});

Deno.test("a mapping that leads in a circle ends", () => {
  const model_mapping = { m: "a", a: "b", b: "a" };
  const { draft } = importOptions(
    { ModelRatio: { m: 1 }, CompletionRatio: { m: 1 } },
    { channels: [channel({ model_mapping })] },
  );
  assert.match(draft.models[0]!.upstreams[0]!.model!, /^[ab]$/);
});
