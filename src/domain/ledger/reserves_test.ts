import assert from "node:assert/strict";
import type { Queries } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import { decimal, fraction } from "../../lib/money.ts";
import { noLog } from "../../../test/helpers/logs.ts";
import { PRICE } from "../../../test/helpers/open_ledger.ts";
import type { RenewalRequest } from "./reserve_renewal.ts";
import { Reserves } from "./reserves.ts";

const QUOTE = {
  model: "m",
  kind: "text" as const,
  amount: fraction("1"),
  units: 100n,
  price: PRICE,
};

/** Reserves on a database that gives what is wanted, in time that the test sets. */
function openReserves(answer: (request: RenewalRequest) => object | Error = () => ({})) {
  const sent: RenewalRequest[] = [];
  const statements: RenewalRequest[][] = [];
  let recall: (account: string) => void = () => {};
  const sql = ((_: TemplateStringsArray, doc: string) => {
    const requests = JSON.parse(doc) as RenewalRequest[];
    sent.push(...requests);
    statements.push(requests);
    const rows: object[] = [];
    for (const request of requests) {
      const given = answer(request);
      if (given instanceof Error) return Promise.reject(given);
      const added = request.is_closing || Number(request.money) === 0 ? [] : [request.money];
      const allocations = added.map(() => `cash:${request.account_id}`);
      const ends_in_ms = added.map(() => null);
      rows.push({ n: request.n, outcome: "renewed", allocations, added, ends_in_ms, ...given });
    }
    return Promise.resolve(rows);
  }) as unknown as Queries;
  const clock = { ms: 0 };
  const reserves = new Reserves(sql, {
    nodeId: "node_1",
    log: noLog,
    onRecall: (listener) => recall = listener,
    now: () => clock.ms,
    timing: { tickMs: 2 ** 30, requestsMin: 2 },
  });
  const draw = (account = "acc_1") => reserves.draw(account, QUOTE, 6);
  return {
    reserves,
    sent,
    statements,
    clock,
    draw,
    recall: () => recall("acc_1"),
    /** Two requests, after which there is a reserve. */
    async warm(account = "acc_1") {
      draw(account);
      draw(account);
      await reserves.renew();
    },
    [Symbol.asyncDispose]: () => reserves[Symbol.asyncDispose](),
  };
}

const sumOf = (amounts: string[]) => amounts.reduce((sum, amount) => sum + Number(amount), 0);

Deno.test("the second request of a moment makes a reserve, and the third draws from it", async () => {
  await using open = openReserves();
  assert.equal(open.draw(), null);
  assert.equal(open.sent.length, 0);
  await open.warm();
  assert.equal(open.sent.length, 1);
  assert.notEqual(open.draw(), null);
});

Deno.test("a request of another kind of usage is held on its own", async () => {
  await using open = openReserves();
  await open.warm();
  assert.equal(open.reserves.draw("acc_1", { ...QUOTE, kind: "image" }, 6), null);
});

Deno.test("nothing is drawn after the lease could have ended", async () => {
  await using open = openReserves();
  await open.warm();
  open.clock.ms = 5_499;
  assert.notEqual(open.draw(), null);
  open.clock.ms = 5_500;
  assert.equal(open.draw(), null);
});

Deno.test("a recall returns what is left at once, and keeps what is drawn until it ends", async () => {
  await using open = openReserves();
  await open.warm();
  const draw = open.draw()!;
  open.recall();
  const { is_closing, kept, drawn } = open.sent.at(-1)!;
  assert.deepEqual([is_closing, sumOf(kept), drawn!.map(Number)], [true, 1, [1]]);
  await open.reserves.renew();
  assert.equal(open.draw(), null, "what comes back is not drawn again");
  open.reserves.end(draw, [decimal("0.25")]);
  assert.equal(open.draw(), null);
  await open.reserves.renew();
  // Draws have only ended since they were told: the database counts them itself.
  assert.deepEqual([sumOf(open.sent.at(-1)!.kept), open.sent.at(-1)!.drawn], [0, null]);
  const { length } = open.sent;
  await open.reserves.renew();
  assert.equal(open.sent.length, length, "it is gone");
  open.clock.ms = 2_000;
  await open.warm();
  assert.notEqual(open.draw(), null, "after a while there is a new one");
});

Deno.test("a recall during a renewal returns what that renewal adds", async () => {
  await using open = openReserves();
  open.draw();
  open.draw();
  open.recall();
  await open.reserves.renew();
  assert.equal(open.sent.at(-1)!.is_closing, true);
  assert.equal(sumOf(open.sent.at(-1)!.kept), 0);
});

Deno.test("a recall whose notification was lost is learned from a renewal", async () => {
  let isRecalled = false;
  await using open = openReserves(() =>
    isRecalled ? { outcome: "recalled", allocations: [], added: [], ends_in_ms: [] } : {}
  );
  await open.warm();
  isRecalled = true;
  open.clock.ms = 1_000;
  await open.reserves.renew();
  assert.deepEqual(open.sent.map(({ is_closing }) => is_closing), [false, false, true]);
  assert.equal(open.draw(), null);
});

Deno.test("draws whose charges wait are not told at a recall", async () => {
  await using open = openReserves();
  await open.warm();
  const [ending, running] = [open.draw()!, open.draw()!];
  ending.isEnding = true;
  open.recall();
  assert.equal(sumOf(open.sent.at(-1)!.drawn!), 1);
  assert.equal(sumOf(open.sent.at(-1)!.kept), 2);
  assert.deepEqual([ending.isTold, running.isTold], [false, true]);
  await open.reserves.renew();
});

Deno.test("a reserve is returned when nothing was drawn for two seconds, though a request runs", async () => {
  await using open = openReserves();
  await open.warm();
  open.draw();
  open.clock.ms = 1_999;
  await open.reserves.renew();
  assert.equal(open.sent.some(({ is_closing }) => is_closing), false);
  open.clock.ms = 2_000;
  await open.reserves.renew();
  const { is_closing, kept } = open.sent.at(-1)!;
  assert.deepEqual([is_closing, sumOf(kept)], [true, 1]);
});

Deno.test("a request that lasts three seconds gets a hold of its own, and is tried again", async () => {
  await using open = openReserves();
  await open.warm();
  const draw = open.draw()!;
  let moves = 0;
  draw.move = () => Promise.resolve(void moves++);
  for (const [ms, expected] of [[2_999, 0], [3_000, 1], [5_999, 1], [6_000, 2]] as const) {
    open.clock.ms = ms;
    await open.reserves.renew();
    assert.equal(moves, expected, `after ${ms} ms`);
  }
  draw.isEnding = true;
  open.clock.ms = 9_000;
  await open.reserves.renew();
  assert.equal(moves, 2, "not while it ends");
});

Deno.test("if a reserve is gone, nothing is drawn from it and its requests get holds", async () => {
  let outcome = "renewed";
  await using open = openReserves(() => ({ outcome }));
  await open.warm();
  const draw = open.draw()!;
  let moves = 0;
  draw.move = () => Promise.resolve(void moves++);
  outcome = "gone";
  open.clock.ms = 1_000;
  await open.reserves.renew();
  assert.equal(open.draw(), null);
  assert.equal(moves, 1);
});

Deno.test("after a renewal that failed requests go on drawing, and the next one says what is kept", async () => {
  for (const error of [new ConnectionError("CONNECTION_CLOSED", "lost"), new Error("refused")]) {
    let isBroken = false;
    await using open = openReserves(() => isBroken ? error : {});
    await open.warm();
    isBroken = true;
    open.clock.ms = 1_000;
    await open.reserves.renew();
    const draw = open.draw();
    assert.notEqual(draw, null);
    open.clock.ms = 5_500;
    assert.equal(open.draw(), null, "its lease could have ended");
    isBroken = false;
    await open.reserves.renew();
    const { kept, renewal } = open.sent.at(-1)!;
    assert.equal(
      sumOf(kept),
      Number(draw!.reserve.held.money) / 1e12 - Number(open.sent.at(-1)!.money),
    );
    assert.equal(renewal, open.sent.length);
  }
});

Deno.test("an account that cannot be renewed does not end the leases of others", async () => {
  let locked = "";
  await using open = openReserves(({ account_id }) =>
    account_id === locked ? new Error("locked") : {}
  );
  for (const account of ["acc_1", "acc_2", "acc_3"]) await open.warm(account);
  locked = "acc_2";
  open.clock.ms = 1_000;
  await open.reserves.renew();
  assert.deepEqual(
    open.statements.slice(-4).map((requests) => requests.map(({ account_id }) => account_id)),
    [["acc_1", "acc_2", "acc_3"], ["acc_1"], ["acc_2"], ["acc_3"]],
  );
  open.clock.ms = 6_000;
  const drawn = ["acc_1", "acc_2", "acc_3"].map((account) => open.draw(account) !== null);
  assert.deepEqual(drawn, [true, false, true]);
  await open.reserves.renew();
});

Deno.test("at most 64 accounts are renewed in one statement", async () => {
  await using open = openReserves();
  for (let at = 0; at < 100; at++) {
    open.draw(`acc_${at}`);
  }
  const before = open.statements.length;
  open.clock.ms = 10;
  for (let at = 0; at < 100; at++) open.draw(`acc_${at}`);
  await open.reserves.renew();
  const sizes = open.statements.slice(before).map((requests) => requests.length);
  assert.equal(sizes.reduce((sum, size) => sum + size), 100);
  assert.ok(Math.max(...sizes) <= 64, sizes.join());
});

Deno.test("a recall of one account renews no other", async () => {
  await using open = openReserves();
  for (const account of ["acc_1", "acc_2"]) await open.warm(account);
  open.clock.ms = 1_000;
  const { length } = open.sent;
  open.recall();
  assert.deepEqual(open.sent.slice(length).map(({ account_id }) => account_id), ["acc_1"]);
  await open.reserves.renew();
});

Deno.test("a draw of an older reserve does not count against a new one", async () => {
  await using open = openReserves();
  await open.warm();
  const draw = open.draw()!;
  open.clock.ms = 10_000;
  await open.reserves.renew();
  await open.reserves.renew();
  await open.warm();
  open.reserves.end(draw, null);
  const { demand } = open.draw()!.reserve;
  assert.ok(demand.target(open.clock.ms).money >= decimal("5"), "never negative");
});

Deno.test("an account that has too little is asked again later, not with every request", async () => {
  await using open = openReserves(() => ({ allocations: [], added: [], ends_in_ms: [] }));
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
