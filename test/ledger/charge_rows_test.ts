import assert from "node:assert/strict";
import { type Item, runItems } from "../../src/domain/ledger/item.ts";
import { openReserveNodes } from "../helpers/reserve_nodes.ts";

Deno.test("a receipt has every value of a charge that was drawn, each in its column", async () => {
  await using nodes = await openReserveNodes(1);
  const { sql } = nodes;
  const account = await nodes.newAccount("1000");
  await nodes.nodes[0]!.warm(account, "1");
  const [reserve] = await sql<[{ id: string }]>`
    select id from reserve where account_id = ${account} and recalled_at is null`;
  const begun_at = new Date(Date.now() - 5_000).toISOString();
  const shown = {
    request_id: "req_of_task",
    client_request_id: 'mine, "quoted" \\ (and more)',
    end_user: "null",
    metadata: { team: "a b", note: "{}" },
    usage: { input_tokens: 12, output_tokens: 30 },
    price: { model: "m", input_price: "1" },
    ...{ key_id: "key_1", model: "m", kind: "text", upstream: "p/m", endpoint: "chat" },
  };
  const charge: Item = {
    ...{ op: "charge", id: "req_drawn", account_id: account, scale: 6, reserve_id: reserve.id },
    ...{ num: "1", den: "4", units: "42", max_units: "99", cost: "0.125" },
    ...{ allocations: [`cash:${account}`], held: ["1"], is_told: false, may_wait: true },
    ...{ beyond_hold: true, begun_at },
    ...shown as unknown as Pick<Item, "usage" | "price">,
  };
  const [outcome] = await runItems(sql, [charge]);
  assert.deepEqual([outcome!.outcome, outcome!.taken], ["resolved", ["0.250000000000"]]);
  const [row] = await sql`
    select request_id, client_request_id, end_user, metadata, usage, price, key_id, model, kind, upstream, endpoint,
           units::text, cost::text, created_at from receipt where id = 'req_drawn'`;
  const { units, cost, created_at, ...read } = row!;
  assert.deepEqual(read, shown);
  assert.deepEqual([units, Number(cost)], ["99", 0.125]);
  assert.equal(new Date(created_at).toISOString(), begun_at);
  await nodes.mustBeSound();
});
