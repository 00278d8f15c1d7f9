import assert from "node:assert/strict";
import { exportCsv } from "../../src/domain/ledger/export_csv.ts";
import { listMovements } from "../../src/domain/ledger/movements.ts";
import { asking, costing, openLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test(
  "a batch takes from each bucket once, and each receipt says its part",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { sql, account } = ledger;
    await ledger.gift("1");
    const other = await ledger.newAccount("10");
    const owners = [account, account, account, other];
    const holds = await Promise.all(
      owners.map((owner, at) =>
        ledger.hold(asking({ id: `req_${at}`, account: owner, amount: "2" }))
      ),
    );
    await Promise.all(holds.map((hold) => hold.settle(costing("1.5"))));
    const captures = await sql<{ debit: string; amount: string }[]>`
    select split_part(debit, ':', 1) || case account_id when ${other} then ' of the other' else '' end as debit,
           trim_scale(amount)::text as amount
      from transfer where kind = 'capture' order by 1`;
    assert.deepEqual(captures.map(({ debit, amount }) => `${debit}: ${amount}`), [
      "cash: 3.5",
      "cash of the other: 1.5",
      "gift: 1",
    ]);
    const [{ batches }] = await sql<[{ batches: number }]>`
    select count(distinct batch)::int as batches from (
      select batch from receipt union all select batch from transfer where kind = 'capture') b`;
    assert.equal(batches, 1);
    await ledger.mustBeSound();

    // Customers see each request.
    const { data } = await listMovements(sql, { account, limit: 10 });
    const lines = data.filter(({ kind }) => kind === "capture");
    assert.deepEqual(
      lines.map(({ id, request_id, amount, source, model }) =>
        [id, request_id, amount, source, model].join(" ")
      ),
      [
        "req_2/1 req_2 -1.50 cash sim-chat",
        "req_1/1 req_1 -1.50 cash sim-chat",
        "req_0/2 req_0 -0.50 cash sim-chat",
        "req_0/1 req_0 -1.00 gift sim-chat",
      ],
    );
    const csv = (await Array.fromAsync(exportCsv(sql, { account }))).join("");
    assert.equal(csv.match(/,capture,/g)!.length, 4);
    // Pages may end in the middle of a batch.
    const seen: string[] = [];
    while (true) {
      const page = await listMovements(sql, { account, limit: 1, after: seen.at(-1) });
      seen.push(...page.data.map(({ id }) => id));
      if (!page.hasMore) break;
    }
    const all = (await listMovements(sql, { account, limit: 10 })).data.map(({ id }) => id);
    assert.deepEqual(seen, all);
  },
);

Deno.test(
  "a late settlement leaves the sweeper's receipt as it is and corrects it by another",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "10", clock: START });
    const { sql, account } = ledger;
    const hold = await ledger.hold(asking({ id: "req_1", account, amount: "2", ttlSeconds: 60 }));
    await hold.checkpoint(costing("0.5"));
    await ledger.setClock("2026-01-31T12:05:00Z");
    await ledger.sweep();
    const first = await sql`select * from receipt`;
    await ledger.setClock("2026-01-31T12:06:00Z");
    await hold.settle(costing("1.25"));
    assert.deepEqual([...await sql`select * from receipt`], [...first]);
    const found = await sql<{ taken: string[]; ended_by: string }[]>`
    select taken::text[], ended_by from ledger_find_receipts(array['req_1'])`;
    assert.deepEqual(found.map((row) => ({ ...row })), [
      { taken: ["1.250000000000"], ended_by: "late" },
    ]);
    await ledger.mustBeSound();
  },
);
