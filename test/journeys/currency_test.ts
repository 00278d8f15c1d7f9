import assert from "node:assert/strict";
import { ConfigError, type ConfigIssue } from "../../src/platform/config/issues.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const CONFIG = await Deno.readTextFile(
  new URL("../helpers/config.yaml", import.meta.url),
);
const IN_DOLLARS = CONFIG.replace("currency: EUR", "currency: USD");
const options = { sanitizeOps: true, sanitizeResources: true };

const currencyOf = async (gateway: TestGateway) =>
  (await (await gateway.get("/v1/balance")).json()).currency;

/** What speaks against the configuration; empty when it was taken. */
async function reloadWith(gateway: TestGateway, config: string): Promise<ConfigIssue[]> {
  await Deno.writeTextFile(gateway.configFile, config);
  const res = await gateway.admin("POST", "/config/reload");
  const body = await res.json();
  return res.status === 200 ? [] : body.error.detail.issues;
}

async function book(gateway: TestGateway): Promise<void> {
  const credit = { kind: "cash", amount: "10.00", reference: "first" };
  const res = await gateway.admin("POST", `/accounts/${gateway.account}/credits`, credit);
  assert.equal(res.status, 201, await res.text());
}

Deno.test("a reload cannot turn booked euros into dollars", options, async () => {
  await using gateway = await openGateway({ config: CONFIG });
  await book(gateway);
  const [fault, ...others] = await reloadWith(gateway, IN_DOLLARS);
  assert.deepEqual([fault?.path, fault?.line, others], ["service.currency", 2, []]);
  assert.match(fault!.message, /the ledger of this database is in EUR/);
  assert.equal(fault!.suggestion, "Declare EUR, or start with an empty database for USD.");
  assert.equal(await currencyOf(gateway), "EUR");
  assert.deepEqual(await reloadWith(gateway, CONFIG), []);
});

Deno.test("a start with another currency than the ledger's is refused", options, async () => {
  await using store = await freshDatabase();
  {
    await using gateway = await openGateway({ store, config: CONFIG });
    await book(gateway);
  }
  await assert.rejects(openGateway({ store, config: IN_DOLLARS }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.issues[0]!.message, /is in EUR: balances and receipts would be read as USD/);
    return true;
  });
  await using again = await openGateway({ store, config: CONFIG });
  assert.equal(await currencyOf(again), "EUR");
});

Deno.test(
  "before anything is booked the currency may change, and then counts",
  options,
  async () => {
    await using gateway = await openGateway({ config: CONFIG });
    assert.deepEqual(await reloadWith(gateway, IN_DOLLARS), []);
    assert.equal(await currencyOf(gateway), "USD");
    await book(gateway);
    const [fault] = await reloadWith(gateway, CONFIG);
    assert.match(fault!.message, /is in USD/);
  },
);

Deno.test("no node changes the currency under another that serves the old one", {
  ...options,
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
}, async () => {
  await using first = await openGateway({ config: CONFIG });
  await assert.rejects(openGateway({ beside: first, config: IN_DOLLARS }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.issues[0]!.message, /other gateways on this database still serve it in EUR/);
    return true;
  });
  await using second = await openGateway({ beside: first, config: CONFIG });
  assert.equal((await reloadWith(second, IN_DOLLARS)).length, 1);
  assert.equal(await currencyOf(second), "EUR");
});

Deno.test("nodes that start together in a new currency all find it", {
  ...options,
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
}, async () => {
  await using store = await freshDatabase();
  await (await openGateway({ store, config: CONFIG }))[Symbol.asyncDispose]();
  await using parts = new AsyncDisposableStack();
  const opened = await Promise.all(
    Array.from({ length: 3 }, () => openGateway({ store, config: IN_DOLLARS })),
  );
  for (const gateway of opened) parts.use(gateway);
  for (const gateway of opened) assert.equal(await currencyOf(gateway), "USD");
});
