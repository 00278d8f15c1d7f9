import assert from "node:assert/strict";
import { price } from "../../../test/helpers/prices.ts";
import { fraction } from "../../lib/money.ts";
import { snapshotOf } from "../pricing/snapshot.ts";
import type { Currency } from "./insufficient.ts";
import { holdItem, type HoldRequest, makeHold, readHeld, type Resolver } from "./hold.ts";
import type { Outcome } from "./item.ts";
import type { Resolution } from "./settle.ts";

const PRICE = price("per_call", "image", { price: "0.04" });
const REQUEST: HoldRequest = {
  id: "req_1",
  account: "acc_1",
  quote: { model: "m", kind: "image", amount: fraction("0.1234567"), units: 3n, price: PRICE },
  ttlSeconds: 60,
};
const MONEY = { currency: "EUR", currencyScale: 6 };
const CHARGE = { amount: fraction("0.1"), units: 1n, usage: {} };
const RESOLUTION = { id: "req_1" } as Resolution;

/** A hold on a ledger that remembers its calls; `failing` names those that fail. */
function open(failing: string[] = []) {
  const calls: unknown[][] = [];
  const orphans: unknown[][] = [];
  const called = (name: string) => (...args: unknown[]) => {
    calls.push([name, ...args]);
    return failing.includes(name)
      ? Promise.reject(new Error(`${name} failed`))
      : Promise.resolve(RESOLUTION);
  };
  const ledger = Object.fromEntries(
    ["settle", "settleAgain", "settleDelivered", "release", "checkpoint"].map((
      name,
    ) => [name, called(name)]),
  ) as unknown as Resolver;
  const hold = makeHold(ledger, REQUEST, "open", (...args) => orphans.push(args));
  return { hold, calls, orphans, names: () => calls.map(([name]) => name) };
}

Deno.test("a hold that leaves its scope is released, once", async () => {
  const { hold, calls } = open();
  await hold[Symbol.asyncDispose]();
  await hold[Symbol.asyncDispose]();
  assert.deepEqual(calls, [["release", "req_1", "acc_1"]]);
});

Deno.test("a hold that was resolved or kept is not released", async () => {
  for (
    const resolve of [
      ({ hold }: ReturnType<typeof open>) => hold.settle(CHARGE),
      ({ hold }: ReturnType<typeof open>) => hold.settleDelivered(CHARGE),
      ({ hold }: ReturnType<typeof open>) => hold.keep().checkpoint(CHARGE),
    ]
  ) {
    const opened = open();
    await resolve(opened);
    await opened.hold[Symbol.asyncDispose]();
    assert.ok(!opened.names().includes("release"), opened.names().join());
  }
  const released = open();
  await released.hold.release();
  await released.hold[Symbol.asyncDispose]();
  assert.deepEqual(released.names(), ["release"]);
});

Deno.test("a checkpoint resolves nothing", async () => {
  const { hold, calls } = open();
  await hold.checkpoint(CHARGE);
  await hold[Symbol.asyncDispose]();
  assert.deepEqual(calls, [["checkpoint", "req_1", CHARGE, "acc_1"], [
    "release",
    "req_1",
    "acc_1",
  ]]);
});

Deno.test("a settlement that fails is retried for as long as its caller waits", async () => {
  const { hold, calls } = open(["settle"]);
  assert.equal(await hold.settle(CHARGE, 500), RESOLUTION);
  const [, , , account, { error, waitMs }] = calls[1] as [
    string,
    string,
    unknown,
    string,
    { error: Error; waitMs: number },
  ];
  assert.deepEqual([account, error.message, waitMs], ["acc_1", "settle failed", 500]);
  await hold.settle(CHARGE);
  assert.equal((calls[3]![4] as { waitMs: number }).waitMs, 0);
});

Deno.test("a hold that cannot be released is reported, and hides no other error", async () => {
  const { hold, orphans } = open(["release"]);
  await hold[Symbol.asyncDispose]();
  assert.deepEqual(orphans.map(([id, error]) => [id, (error as Error).message]), [
    ["req_1", "release failed"],
  ]);
});

Deno.test("a hold's item has the quote, its price and the request it is for", () => {
  assert.deepEqual(holdItem(REQUEST, 6), {
    op: "hold",
    id: "req_1",
    account_id: "acc_1",
    num: String(REQUEST.quote.amount.num),
    den: String(REQUEST.quote.amount.den),
    units: "3",
    scale: 6,
    request_id: "req_1",
    client_request_id: undefined,
    model: "m",
    kind: "image",
    price: snapshotOf(PRICE),
    ttl_seconds: 60,
    beyond_hold: undefined,
    key_id: undefined,
    end_user: undefined,
    metadata: undefined,
    endpoint: undefined,
  });
  assert.equal(holdItem({ ...REQUEST, requestId: "req_0" }, 6).request_id, "req_0");
});

Deno.test("402 names the most it may cost, rounded up, and where to recharge", () => {
  const read = (outcome: Outcome["outcome"], money: Currency = MONEY) =>
    readHeld(REQUEST, { outcome, state: "open" } as Outcome, money);
  assert.equal(read("held"), "open");
  assert.equal(read("already"), "open");
  assert.throws(() => read("insufficient"), {
    code: "insufficient_balance",
    message: "The balance does not cover this request, which may cost up to 0.123457 EUR: " +
      "recharge at /console/billing or change plan.",
  });
  const topUpUrl = "https://example.com/console/billing";
  assert.throws(
    () => read("insufficient", { ...MONEY, topUpUrl }),
    /recharge at https:\/\/example\.com\/console\/billing or change plan\.$/,
  );
  assert.throws(() => read("conflict"), /held for something else/);
  assert.throws(() => read("unknown"), /there is no account acc_1/);
});
