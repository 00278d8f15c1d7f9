import assert from "node:assert/strict";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const configFor = () => configWithSite(`welcome_credit: "1.50"\ntrusted_proxies: 1`);

async function register(gateway: TestGateway, email: string, address: string): Promise<Visitor> {
  const visitor = new Visitor(gateway.address);
  const headers = { "x-forwarded-for": address };
  const res = await visitor.post("/register", { email, password: PASSWORD }, headers);
  assert.equal(res.status, 303, await res.text());
  return visitor;
}

/** What every person has, in the order of their addresses. */
async function gifts(gateway: TestGateway): Promise<number[]> {
  const people = await gateway.gateway.database.sql`select account_id from person order by email`;
  const balances = people.map(async ({ account_id }) => {
    const { balance } = await (await gateway.admin("GET", `/accounts/${account_id}`)).json();
    return Number(balance.gift_balance);
  });
  return await Promise.all(balances);
}

async function verify(gateway: TestGateway): Promise<void> {
  const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.ok(ok, JSON.stringify(checks));
}

test("20 accounts at once from one network: all are made, three get the welcome credit, the others are told", async () => {
  await using gateway = await openGateway({ config: await configFor() });
  const all = await Promise.all(
    Array.from(
      { length: 20 },
      (_, n) => register(gateway, `ann${n}@example.com`, `203.0.113.${n + 1}`),
    ),
  );
  const given = await gifts(gateway);
  assert.equal(given.length, 20);
  assert.equal(given.filter((gift) => gift === 1.5).length, 3);
  assert.equal(given.filter((gift) => gift === 0).length, 17);
  const pages = await Promise.all(all.map(async (one) => await (await one.get("/console")).text()));
  assert.equal(
    pages.filter((page) => page.includes("Your account is ready, without welcome credit")).length,
    17,
  );
  // Another network has its own, and so has this one on another day.
  await register(gateway, "z1@example.com", "198.51.100.1");
  await gateway.gateway.database.sql`update welcome_credit_network set day = day - 1`;
  await register(gateway, "z2@example.com", "203.0.113.1");
  assert.deepEqual((await gifts(gateway)).slice(-2), [1.5, 1.5]);
  await verify(gateway);
});

test("deleting the account and registering again brings no second welcome credit", async () => {
  await using gateway = await openGateway({ config: await configFor() });
  const { sql } = gateway.gateway.database;
  for (let n = 0; n < 2; n++) {
    const ann = await register(
      gateway,
      n === 0 ? "Ann@example.com" : "ann@EXAMPLE.com",
      `203.0.${n}.1`,
    );
    assert.deepEqual(await gifts(gateway), [n === 0 ? 1.5 : 0]);
    if (n === 0) await ann.post("/account/delete", { confirm: PASSWORD });
  }
  // What is remembered is not the address.
  const rows = JSON.stringify(
    await sql`select encode(address_hash, 'escape') as text from welcome_credit`,
  );
  assert.doesNotMatch(rows, /ann|example/i);
  await verify(gateway);
});

test("addresses of one IPv6 network count together", async () => {
  await using gateway = await openGateway({ config: await configFor() });
  for (let n = 0; n < 4; n++) {
    await register(gateway, `ann${n}@example.com`, `2001:db8:1:2::${n + 1}`);
  }
  await register(gateway, "ann4@example.com", "2001:db8:1:3::1");
  assert.deepEqual(await gifts(gateway), [1.5, 1.5, 1.5, 0, 1.5]);
});
