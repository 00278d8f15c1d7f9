import assert from "node:assert/strict";
import type { Queries } from "../../platform/database/database.ts";
import { fraction } from "../../lib/money.ts";
import { noLog } from "../../../test/helpers/logs.ts";
import { PRICE } from "../../../test/helpers/open_ledger.ts";
import { Reserves } from "./reserves.ts";

const QUOTE = {
  model: "m",
  kind: "text" as const,
  amount: fraction("1"),
  units: 100n,
  price: PRICE,
};

interface Request {
  n: number;
  is_new: boolean;
  is_closing: boolean;
  money: string;
  returned: string[];
}

/** Reserves on a database that gives what is wanted, in time that the test sets. */
function openReserves(answer: (request: Request) => object | Error = () => ({})) {
  const sent: Request[] = [];
  let recall: (account: string) => void = () => {};
  const sql = ((_: TemplateStringsArray, doc: string) => {
    const requests = JSON.parse(doc) as Request[];
    sent.push(...requests);
    const rows = requests.map((request) => {
      const given = answer(request);
      if (given instanceof Error) throw given;
      const added = request.is_closing ? [] : [request.money];
      const allocations = added.map(() => "cash:acc_1");
      return {
        n: request.n,
        outcome: "renewed",
        allocations,
        added,
        ends_in_ms: added.map(() => null),
        ...given,
      };
    });
    return Promise.resolve(rows);
  }) as unknown as Queries;
  const clock = { ms: 0 };
  const reserves = new Reserves(sql, {
    nodeId: "node_1",
    log: noLog,
    onRecall: (listener) => recall = listener,
    now: () => clock.ms,
    timing: { tickMs: 2 ** 30 },
  });
  return {
    reserves,
    sent,
    clock,
    recall: () => recall("acc_1"),
    draw: () => reserves.draw("acc_1", QUOTE, 6),
    /** Two requests, after which there is a reserve. */
    async warm() {
      this.draw();
      this.draw();
      await reserves.renew();
    },
  };
}

Deno.test("the second request of a moment makes a reserve, and the third draws from it", async () => {
  const open = openReserves();
  assert.equal(open.draw(), null);
  assert.equal(open.sent.length, 0);
  await open.warm();
  assert.equal(open.sent.length, 1);
  assert.notEqual(open.draw(), null);
});

Deno.test("nothing is drawn after the lease could have ended", async () => {
  const open = openReserves();
  await open.warm();
  open.clock.ms = 5_499;
  assert.notEqual(open.draw(), null);
  open.clock.ms = 5_500;
  assert.equal(open.draw(), null);
});

Deno.test("a recall returns what is left at once, and keeps what is drawn", async () => {
  const open = openReserves();
  await open.warm();
  const draw = open.draw()!;
  open.recall();
  const { is_closing, returned } = open.sent.at(-1)!;
  assert.equal(is_closing, true);
  assert.equal(Number(returned[0]), Number(open.sent[0]!.money) - 1);
  assert.equal(open.draw(), null);
  await open.reserves.renew();
  open.reserves.end(draw, QUOTE, [fraction("1").num], null);
  assert.deepEqual(draw.reserve.held, { money: 0n, units: 0n });
});

Deno.test("a reserve is returned when nothing was drawn for two seconds", async () => {
  const open = openReserves();
  await open.warm();
  open.clock.ms = 1_999;
  await open.reserves.renew();
  assert.equal(open.sent.some(({ is_closing }) => is_closing), false);
  open.clock.ms = 2_000;
  await open.reserves.renew();
  assert.equal(open.sent.at(-1)!.is_closing, true);
});

Deno.test("a reserve that is gone, or whose renewal may have failed, is drawn from no more", async () => {
  for (const answer of [{ outcome: "gone" }, new Error("connection lost")]) {
    let isBroken = false;
    const open = openReserves(() => isBroken ? answer : {});
    await open.warm();
    isBroken = true;
    open.clock.ms = 2_500;
    assert.notEqual(open.draw(), null);
    await open.reserves.renew().catch(() => {});
    assert.equal(open.draw(), null);
  }
});

Deno.test("an account that has too little is asked again later, not with every request", async () => {
  const open = openReserves(() => ({ allocations: [], added: [], ends_in_ms: [] }));
  await open.warm();
  for (let at = 0; at < 10; at++) open.draw();
  await open.reserves.renew();
  assert.equal(open.sent.length, 1);
  open.clock.ms = 2_000;
  open.draw();
  open.draw();
  await open.reserves.renew();
  assert.equal(open.sent.length, 2);
});
