import assert from "node:assert/strict";
import { parse } from "yaml";
import { renderBlockItem, renderFlow, renderMapping } from "./render_yaml.ts";

/** Texts that are something else in YAML unless they are quoted. */
const ODD = [
  ..."{}[],:#&*!|>'\"%@`?-~ \t\n\r\\\u0085\u2028\u0000".split(""),
  ..."a: b,a #b,- a,null,true,1,0.10,1e3,<<,=,a:,: a,${A},2026-01-01,yes, a ,---,...".split(","),
  "line\nline",
  "x".repeat(120),
];

Deno.test("what is rendered is read back as it was, as a key and as a value", () => {
  for (const odd of ODD) {
    const value = { [odd]: odd, list: [odd, { [odd]: [odd] }], long: { [odd]: "y".repeat(100) } };
    for (const text of [renderMapping(value, 0), renderFlow(value)]) {
      assert.deepEqual(parse(text, { stringKeys: true }), value, text);
    }
    assert.deepEqual(parse(renderBlockItem(value, 2), { stringKeys: true }), [value]);
  }
});

Deno.test("what fits on a line is on one line, and what does not is a block", () => {
  const cost = { input_price: "0.15", unit: "1M tokens" };
  const name = "n".repeat(60);
  assert.equal(
    renderBlockItem({ id: "a", cost, upstreams: [{ name, cost }, { cost }] }, 2),
    `  - id: a
    cost: { input_price: "0.15", unit: 1M tokens }
    upstreams:
      - name: ${name}
        cost: { input_price: "0.15", unit: 1M tokens }
      - { cost: { input_price: "0.15", unit: 1M tokens } }`,
  );
});
