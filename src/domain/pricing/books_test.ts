import assert from "node:assert/strict";
import type { Config, Price, PriceBook } from "../../platform/config/config.ts";
import { announcedPrices, priceFor, pricesFor } from "./find_price.ts";

const JANUARY = Date.parse("2026-01-01T00:00:00Z");
const MARCH = Date.parse("2026-03-01T00:00:00Z");

function price(book: string, amount: string, effectiveAt = JANUARY): Price {
  return {
    book,
    model: "m",
    billingType: "per_call",
    unit: "image",
    terms: { price: amount },
    effectiveAt,
  };
}

/** Newest first, as compiled. */
function book(id: string, ...prices: Price[]): [string, PriceBook] {
  return [id, { id, prices: new Map([["m", prices]]) }];
}

const config = {
  plans: new Map([["free", { priceBook: "default" }], ["partner", { priceBook: "partner" }]]),
  books: new Map([
    book("default", price("default", "0.05", MARCH), price("default", "0.04")),
    book("partner", price("partner", "0.03")),
    book("special", price("special", "0.01", MARCH)),
  ]),
} as unknown as Config;

const costs = (account: { plan: string; priceBook: string | null }, now: number) =>
  priceFor(config, { id: "acc_1", ...account }, "m", now)?.terms.price;

Deno.test("a price with a date in the future takes effect at that moment by itself", () => {
  const account = { plan: "free", priceBook: null };
  assert.equal(costs(account, MARCH - 1), "0.04");
  assert.equal(costs(account, MARCH), "0.05");
  assert.equal(costs(account, JANUARY - 1), undefined);
});

Deno.test("a plan's book and an account's own book come before the default", () => {
  assert.equal(costs({ plan: "partner", priceBook: null }, MARCH), "0.03");
  assert.equal(costs({ plan: "partner", priceBook: "special" }, MARCH), "0.01");
  // Before the account's own price is in force, its plan's counts.
  assert.equal(costs({ plan: "partner", priceBook: "special" }, JANUARY), "0.03");
  assert.equal(costs({ plan: "unknown", priceBook: null }, JANUARY), "0.04");
});

Deno.test("announced are only the prices that will be charged, not those of a book that comes later", () => {
  const announced = (account: { plan: string; priceBook: string | null }, now = JANUARY) =>
    announcedPrices(config, { id: "acc_1", ...account }, "m", now).map(({ terms }) => terms.price);
  assert.deepEqual(announced({ plan: "free", priceBook: null }), ["0.05"]);
  assert.deepEqual(announced({ plan: "free", priceBook: null }, MARCH), []);
  assert.deepEqual(announced({ plan: "partner", priceBook: null }), []);
  assert.deepEqual(announced({ plan: "partner", priceBook: "special" }), ["0.01"]);
});

Deno.test("an account's prices are of the models it may use and that have one", () => {
  const model = (id: string, more: object = {}) =>
    [id, { id, status: "available", visibility: "everyone", ...more }] as const;
  const onlyFor = (account: string) => ({ plans: new Set(), accounts: new Set([account]) });
  const names = ["open", "unavailable", "mine", "theirs", "unpriced"];
  const shop = {
    plans: new Map([["free", { priceBook: "default" }]]),
    books: new Map([["default", {
      id: "default",
      prices: new Map(
        names.slice(0, -1).map((id) => [id, [{ ...price("default", "1"), model: id }]]),
      ),
    }]]),
    models: new Map([
      model("open"),
      model("unavailable", { status: "unavailable" }),
      model("mine", { visibility: onlyFor("acc_1") }),
      model("theirs", { visibility: onlyFor("acc_2") }),
      model("unpriced"),
    ]),
  } as unknown as Config;
  const prices = pricesFor(shop, { id: "acc_1", plan: "free", priceBook: null }, MARCH);
  assert.deepEqual(prices.map(({ model }) => model), ["open", "mine"]);
});
