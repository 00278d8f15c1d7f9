import assert from "node:assert/strict";
import { ConfigError, type ConfigFault } from "../../src/platform/config/faults.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const DECLARATION = await Deno.readTextFile(
  new URL("../helpers/declaration.yaml", import.meta.url),
);
const IN_DOLLARS = DECLARATION.replace("currency: EUR", "currency: USD");
const options = { sanitizeOps: true, sanitizeResources: true };

const currencyOf = async (gateway: TestGateway) =>
  (await (await gateway.get("/v1/balance")).json()).currency;

/** What speaks against the declaration; empty when it was taken. */
async function reloadWith(gateway: TestGateway, declaration: string): Promise<ConfigFault[]> {
  await Deno.writeTextFile(gateway.declarationFile, declaration);
  const res = await gateway.admin("POST", "/config/reload");
  const body = await res.json();
  return res.status === 200 ? [] : body.error.detail.faults;
}

async function book(gateway: TestGateway): Promise<void> {
  const credit = { kind: "cash", amount: "10.00", reference: "first" };
  const res = await gateway.admin("POST", `/accounts/${gateway.account}/credits`, credit);
  assert.equal(res.status, 201, await res.text());
}

Deno.test("a reload cannot turn booked euros into dollars", options, async () => {
  await using gateway = await openGateway({ declaration: DECLARATION });
  await book(gateway);
  const [fault, ...others] = await reloadWith(gateway, IN_DOLLARS);
  assert.deepEqual([fault?.path, fault?.line, others], ["service.currency", 2, []]);
  assert.match(fault!.message, /the ledger of this database is in EUR/);
  assert.equal(fault!.suggestion, "Declare EUR, or start with an empty database for USD.");
  assert.equal(await currencyOf(gateway), "EUR");
  assert.deepEqual(await reloadWith(gateway, DECLARATION), []);
});

Deno.test("a start with another currency than the ledger's is refused", options, async () => {
  await using store = await freshDatabase();
  {
    await using gateway = await openGateway({ store, declaration: DECLARATION });
    await book(gateway);
  }
  await assert.rejects(openGateway({ store, declaration: IN_DOLLARS }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.faults[0]!.message, /is in EUR: balances and receipts would be read as USD/);
    return true;
  });
  await using again = await openGateway({ store, declaration: DECLARATION });
  assert.equal(await currencyOf(again), "EUR");
});

Deno.test(
  "before anything is booked the currency may change, and then counts",
  options,
  async () => {
    await using gateway = await openGateway({ declaration: DECLARATION });
    assert.deepEqual(await reloadWith(gateway, IN_DOLLARS), []);
    assert.equal(await currencyOf(gateway), "USD");
    await book(gateway);
    const [fault] = await reloadWith(gateway, DECLARATION);
    assert.match(fault!.message, /is in USD/);
  },
);

Deno.test("no node changes the currency under another that serves the old one", {
  ...options,
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
}, async () => {
  await using first = await openGateway({ declaration: DECLARATION });
  await assert.rejects(openGateway({ beside: first, declaration: IN_DOLLARS }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.faults[0]!.message, /other gateways on this database still serve it in EUR/);
    return true;
  });
  await using second = await openGateway({ beside: first, declaration: DECLARATION });
  assert.equal((await reloadWith(second, IN_DOLLARS)).length, 1);
  assert.equal(await currencyOf(second), "EUR");
});

Deno.test("nodes that start together in a new currency all find it", {
  ...options,
  ignore: Deno.env.get("TEST_DATABASE_URL") === undefined,
}, async () => {
  await using store = await freshDatabase();
  await (await openGateway({ store, declaration: DECLARATION }))[Symbol.asyncDispose]();
  await using parts = new AsyncDisposableStack();
  const opened = await Promise.all(
    Array.from({ length: 3 }, () => openGateway({ store, declaration: IN_DOLLARS })),
  );
  for (const gateway of opened) parts.use(gateway);
  for (const gateway of opened) assert.equal(await currencyOf(gateway), "USD");
});
