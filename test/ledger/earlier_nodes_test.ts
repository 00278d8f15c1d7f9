import assert from "node:assert/strict";
import type { Outcome } from "../../src/domain/ledger/item.ts";
import { findReceipt } from "../../src/domain/ledger/statement.ts";
import { openReserveNodes } from "../helpers/reserve_nodes.ts";

const ids = ["req_earlier_1", "req_earlier_2"];

/** A node whose reserve of an account can pay for `ids`. */
async function openWithReserve() {
  const nodes = await openReserveNodes(1);
  const { sql } = nodes;
  const account = await nodes.newAccount("1000");
  await nodes.nodes[0]!.warm(account, "1");
  const [reserve] = await sql<[{ id: string }]>`
    select id from reserve where account_id = ${account} and recalled_at is null`;
  return {
    ...{ sql, account, reserve: reserve.id },
    async mustHaveCharged(): Promise<void> {
      const receipts = await Promise.all(ids.map((id) => findReceipt(sql, account, id, "EUR")));
      assert.deepEqual(receipts.map((receipt) => receipt!.settled), ["0.25", "0.50"]);
      await nodes.mustBeSound();
    },
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

Deno.test("charges in the form of earlier builds are booked while their nodes still run", async () => {
  await using opened = await openWithReserve();
  const { sql, account, reserve } = opened;
  const both = <T>(value: T) => [value, value];
  const columns = {
    n: [0, 2],
    bucket: both(`cash:${account}`),
    drawn: both("1"),
    price_number: both(1),
    prices: [{ model: "m", input_price: "1" }],
    scale: 6,
    id: ids,
    account_id: both(account),
    num: ["1", "1"],
    den: ["4", "2"],
    units: both("100"),
    usage: both({ input_tokens: 100 }),
    request_id: ids,
    model: both("m"),
    kind: both("text"),
    beyond_hold: both(true),
    reserve_id: both(reserve),
    amount: both("1"),
    max_units: both("100"),
    begun_at: both(new Date().toISOString()),
    is_told: both(false),
    may_wait: both(true),
  };
  const held = { n: 1, op: "hold", id: "req_held", account_id: account, ttl_seconds: 60, scale: 6 };
  const others = [{
    ...held,
    request_id: "req_held",
    num: "1",
    den: "1",
    units: "0",
    model: "m",
    price: {},
  }];
  const outcomes = await sql<Outcome[]>`
    select * from ledger_batch(${JSON.stringify(others)}::text::json, ${
    JSON.stringify(columns)
  }::text::json)`;
  assert.deepEqual(
    outcomes.toSorted((a, b) => a.n - b.n).map(({ id, outcome }) => [id, outcome]),
    [["req_earlier_1", "resolved"], ["req_held", "held"], ["req_earlier_2", "resolved"]],
  );
  await opened.mustHaveCharged();
});

Deno.test("charges as rows of JSON, the form after that, are booked as well", async () => {
  await using opened = await openWithReserve();
  const { sql, account, reserve } = opened;
  const group = { g: 0, account_id: account, den: "4", model: "m", kind: "text", price: {} };
  const source = { beyond_hold: true, reserve_id: reserve, bucket: `cash:${account}` };
  const facts = { g: 0, units: "100", usage: {}, drawn: "1", max_units: "100", is_told: false };
  const begun_at = new Date().toISOString();
  const rows = ["1", "2"].map((num, n) => ({ ...facts, n, num, begun_at, may_wait: true }));
  const outcomes = await sql<Outcome[]>`
    select * from ledger_batch(null, ${JSON.stringify([{ ...group, ...source }])}::text::json, ${
    JSON.stringify(rows)
  }::text::json, ${ids}::text[], 6)`;
  assert.deepEqual(
    outcomes.toSorted((a, b) => a.n - b.n).map(({ id, outcome }) => [id, outcome]),
    ids.map((id) => [id, "resolved"]),
  );
  await opened.mustHaveCharged();
});
