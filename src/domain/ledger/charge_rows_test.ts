import assert from "node:assert/strict";
import fc from "fast-check";
import { readRows } from "../../../test/helpers/read_rows.ts";
import { chargeRows } from "./charge_rows.ts";
import type { Item } from "./item.ts";

const PRICES = ["1", "2"].map((input_price) => ({
  model: "m",
  input_price,
})) as unknown as NonNullable<
  Item["price"]
>[];

const charges = fc.array(
  fc.record({
    account: fc.constantFrom("acc_1", "acc_2"),
    key: fc.constantFrom("key_1", "key_2", undefined),
    price: fc.constantFrom(...PRICES),
    upstream: fc.constantFrom("a/m", "b/m", undefined),
    endpoint: fc.constantFrom("chat", "messages"),
    den: fc.constantFrom("1", "1000"),
    isBeyond: fc.boolean(),
    isOwnId: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

Deno.test("a row and its group have all that its charge says", () => {
  fc.assert(fc.property(charges, (asked) => {
    const items = asked.map((one, at): Item => ({
      op: "charge",
      id: `req_${at}`,
      account_id: one.account,
      ...{ num: String(at), den: one.den, units: "3", scale: 6, usage: { input_tokens: at } },
      request_id: one.isOwnId ? `req_${at}` : `task_${at}`,
      ...{
        model: "m",
        kind: "text",
        price: one.price,
        beyond_hold: one.isBeyond,
        endpoint: one.endpoint,
      },
      ...{ key_id: one.key, upstream: one.upstream, reserve_id: `rsv_${one.account}` },
      ...{ allocations: [`cash:${one.account}`], held: [`${at}.5`], is_told: at % 2 === 0 },
    }));
    const { groups, rows, scale } = chargeRows(items.map((item, at) => [at, item]));
    const parsed = JSON.parse(groups!);
    assert.equal(scale, 6);
    assert.ok(parsed.length <= items.length);
    for (const values of readRows(rows!)) {
      const [id, n, g, num, units, usage, cost, drawn, max_units, begun_at, is_told] = values;
      const [may_wait, request_id, client_request_id, end_user, metadata] = values.slice(11);
      assert.deepEqual(
        [cost, max_units, begun_at, may_wait, client_request_id, end_user, metadata],
        Array(7).fill(null),
      );
      const { g: _, bucket, ...group } = parsed[Number(g)];
      const row = { num, units, usage: JSON.parse(usage!), is_told: is_told === "true" };
      const read = { ...group, ...row, id, request_id: request_id ?? id };
      const { op: _op, scale: _scale, allocations, held, ...item } = items[Number(n)]!;
      assert.deepEqual(read, JSON.parse(JSON.stringify(item)));
      assert.deepEqual([[bucket], [drawn]], [allocations, held]);
    }
  }));
});
