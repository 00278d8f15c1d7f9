import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { asking, costing } from "../helpers/open_ledger.ts";
import { openReserveNodes } from "../helpers/reserve_nodes.ts";

const FAULTS = {
  answer: "is booked and its answer is lost",
  late: "arrives when the request is over",
} as const;

for (const how of ["answer", "late"] as const) {
  for (const kind of ["drawn", "held"] as const) {
    Deno.test(`a ${kind} request that failed because its settlement ${FAULTS[how]} costs nothing`, async () => {
      await using nodes = await openReserveNodes(1);
      const [node] = nodes.nodes;
      const account = await nodes.newAccount("1000");
      if (kind === "drawn") await node!.warm(account, "1");
      const hold = await node!.ledger.hold({
        ...asking({ account, amount: "1", units: 100, kind: "text" }),
        beyondHold: true,
        isRenewed: true,
        mayDraw: kind === "drawn",
      });
      const { database } = node!;
      database.breakNext(how, "ledger_run");
      const sent = database.count("ledger_run");
      // What remains of its price after rounding is taken back, too.
      const settling = hold.settle(costing("0.4000001", 40), 300);
      settling.catch(() => undefined);
      while (database.count("ledger_run") === sent) await Promise.resolve();
      database.isAway = true;
      await assert.rejects(settling);
      database.isAway = false;
      await database.arrive();
      await until("nothing waits", () => node!.ledger.pending.size === 0);
      const [receipt] = await nodes.sql`
        select state, (select sum(part) from unnest(taken) part)::float as taken, usage
          from final_receipt where id = ${hold.id}`;
      assert.deepEqual([receipt!.state, receipt!.taken ?? 0, receipt!.usage], [
        "released",
        0,
        null,
      ]);
      const { cash_balance } = await nodes.balance(account);
      assert.equal(Number(cash_balance), 1000);
      const [cash] = await nodes.sql`
        select carry::float from balance_bucket where account_id = ${account} and source = 'cash'`;
      assert.equal(cash!.carry, 0);
      await nodes.mustBeSound();
    });
  }
}
