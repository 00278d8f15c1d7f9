import assert from "node:assert/strict";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";
import { statusOf } from "../helpers/status_of.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("registering makes a person and an account on plan free, and signs in", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  const res = await ann.post("/register", { email: " Ann@Example.COM ", password: PASSWORD });
  assert.equal(res.status, 303);
  assert.equal(res.headers.get("location"), "/console");
  const [cookie] = res.headers.getSetCookie();
  assert.match(
    cookie!,
    /^tollgate_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  );
  const [row] = await gateway.gateway.database.sql`
    select p.email, p.name, p.is_operator, a.plan, p.password_hash
      from person p join account a on a.id = p.account_id`;
  assert.match(row!.password_hash, /^\$argon2id\$v=19\$/);
  assert.deepEqual(
    { ...row, password_hash: null },
    {
      email: "ann@example.com",
      name: "ann",
      is_operator: false,
      plan: "free",
      password_hash: null,
    },
  );
  const page = await ann.get("/account");
  assert.equal(page.status, 200);
  assert.match(await page.text(), /ann@example\.com/);
});

test("with an https address the cookie is bound to the host and secure", async () => {
  await using gateway = await openGateway({
    config: await configWithSite("url: https://gate.example.com"),
  });
  const ann = new Visitor(gateway.address);
  const res = await ann.post("/register", { email: "ann@example.com", password: PASSWORD }, {
    origin: "https://gate.example.com",
  });
  assert.equal(res.status, 303);
  assert.match(
    res.headers.getSetCookie()[0]!,
    /^__Host-tollgate_session=\w{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("422 for what cannot be registered, with the reason beside the field", async () => {
  await using gateway = await openGateway();
  const visitor = new Visitor(gateway.address);
  for (
    const [fields, reason] of [
      [{ email: "no address", password: PASSWORD }, /Enter a valid email/],
      [{ email: "ann@example.com", password: "short" }, /Use at least 10 characters/],
      [{ email: "ann@example.com", password: "aaaaaaaaaaaa" }, /too easy to guess/],
      [
        { email: "ann@example.com", password: PASSWORD, name: "n".repeat(201) },
        /may not be longer than 200 characters/,
      ],
    ] as const
  ) {
    const res = await visitor.post("/register", fields);
    assert.equal(res.status, 422);
    assert.match(await res.text(), reason);
  }
  assert.equal((await gateway.gateway.database.sql`select from person`).length, 0);
});

test("an address that is taken is not told from one that cannot be had, and its owner is let in", async () => {
  await using gateway = await openGateway({ account: { name: "op", email: "op@example.com" } });
  await new Visitor(gateway.address).register("ann@example.com");
  const texts: string[] = [];
  for (const email of ["ann@example.com", "op@example.com"]) {
    const res = await new Visitor(gateway.address).post("/register", {
      email,
      password: "another password",
    });
    assert.equal(res.status, 422);
    texts.push((await res.text()).replaceAll(email, "…"));
  }
  assert.equal(texts[0], texts[1]);
  await new Visitor(gateway.address).register("ANN@example.com");
});

test("ten registrations of one address at once make one person", async () => {
  await using gateway = await openGateway();
  const all = await Promise.all(
    Array.from(
      { length: 10 },
      () =>
        new Visitor(gateway.address).post("/register", { email: "ann@x.org", password: PASSWORD }),
    ),
  );
  for (const res of all) await res.body?.cancel();
  const { sql } = gateway.gateway.database;
  assert.equal((await sql`select from person`).length, 1);
  assert.equal((await sql`select from account where email = 'ann@x.org'`).length, 1);
});

test("401 says the same for a wrong password and for an unknown email; the right password leads where it should", async () => {
  await using gateway = await openGateway();
  await new Visitor(gateway.address).register("ann@example.com");
  const texts: string[] = [];
  for (const email of ["ann@example.com", "unknown@example.com"]) {
    const res = await new Visitor(gateway.address).post("/sign-in", { email, password: "wrong" });
    assert.equal(res.status, 401);
    texts.push((await res.text()).replaceAll(email, "…"));
  }
  assert.equal(texts[0], texts[1]);
  const goes = async (return_to: string) => {
    const res = await new Visitor(gateway.address).post("/sign-in", {
      email: "ann@example.com",
      password: PASSWORD,
      return_to,
    });
    return res.headers.get("location");
  };
  assert.equal(await goes("/console/keys?a=1"), "/console/keys?a=1");
  for (
    const evil of ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:1", ""]
  ) {
    assert.equal(await goes(evil), "/console", evil);
  }
});

test("429 after eight attempts at one person from one place, on every node", async () => {
  await using gateway = await openGateway();
  const nodes = gateway.store.databaseUrl === undefined ? [gateway] : [
    gateway,
    await openGateway({ beside: gateway }),
  ];
  await new Visitor(gateway.address).register("ann@example.com");
  const statuses: number[] = [];
  let last: Response | undefined;
  for (let i = 0; i < 9; i++) {
    last = await new Visitor(nodes[i % nodes.length]!.address).post("/sign-in", {
      email: "ann@example.com",
      password: i === 8 ? PASSWORD : `guess number ${i}`,
    });
    statuses.push(last.status);
    await last.body?.cancel();
  }
  assert.deepEqual(statuses, [...Array(8).fill(401), 429]);
  assert.ok(Number(last!.headers.get("retry-after")) > 0);
  // Attempts at another person are not limited by it.
  const other = await new Visitor(gateway.address).post("/sign-in", {
    email: "bob@example.com",
    password: "x",
  });
  assert.equal(other.status, 401);
  await other.body?.cancel();
  for (const node of nodes.slice(1)) await node[Symbol.asyncDispose]();
});

test("a form of another site, or without the session's token, is refused", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  for (
    const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ] as Record<string, string>[]
  ) {
    const res = await ann.post("/register", { email: "a@b.org", password: PASSWORD }, headers);
    assert.equal(res.status, 403);
    await res.body?.cancel();
  }
  await ann.register("ann@example.com");
  for (const csrf of ["", "x".repeat(43)]) {
    const res = await ann.post("/account/name", { name: "Mallory", csrf });
    assert.equal(res.status, 403);
    await res.body?.cancel();
  }
  const [row] = await gateway.gateway.database.sql`select name from person`;
  assert.equal(row!.name, "Ann");
  const res = await ann.post("/account/name", { name: "Ann B." });
  assert.equal(res.status, 303);
});

test("signing out ends the session itself, not only the cookie; everywhere ends all", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const kept = new Map(ann.cookies);
  assert.equal((await ann.post("/sign-out", {})).status, 303);
  assert.equal(ann.cookies.has("tollgate_session"), false);
  const thief = new Visitor(gateway.address);
  for (const [name, value] of kept) thief.cookies.set(name, value);
  assert.equal((await thief.get("/account")).status, 303);

  const browsers = [new Visitor(gateway.address), new Visitor(gateway.address)];
  for (const browser of browsers) {
    await browser.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
    assert.equal((await browser.get("/account")).status, 200);
  }
  await browsers[0]!.post("/account/sessions/end-all", {});
  for (const browser of browsers) assert.equal((await browser.get("/account")).status, 303);
});

test("a new password ends the other sessions and the old password", async () => {
  await using gateway = await openGateway();
  const [ann, other] = [new Visitor(gateway.address), new Visitor(gateway.address)];
  await ann.register("ann@example.com");
  await other.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
  const wrong = await ann.post("/account/password", {
    current: "nope",
    password: "a new password",
  });
  assert.equal(wrong.status, 422);
  await wrong.body?.cancel();
  const before = ann.cookies.get("tollgate_session");
  const res = await ann.post("/account/password", {
    current: PASSWORD,
    password: "a new password",
  });
  assert.equal(res.status, 303);
  assert.notEqual(ann.cookies.get("tollgate_session"), before);
  assert.equal((await ann.get("/account")).status, 200);
  assert.equal(await statusOf(other.get("/account")), 303);
  const old = await other.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
  assert.equal(old.status, 401);
  await old.body?.cancel();
});

test("deleting the account wants the password, ends its keys, and keeps the books without a name", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const { sql } = gateway.gateway.database;
  const [person] = await sql`select account_id from person`;
  const account = person!.account_id as string;
  const made = await (await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" }))
    .json();
  await (await gateway.admin("POST", `/accounts/${account}/credits`, {
    kind: "cash",
    amount: "5.00",
    reference: "r1",
  })).body?.cancel();
  const call = () =>
    gateway.fetch("/v1/models", { headers: { authorization: `Bearer ${made.key}` } });
  const first = await call();
  assert.equal(first.status, 200);
  await first.body?.cancel();

  const wrong = await ann.post("/account/delete", { confirm: "nope" });
  assert.equal(wrong.status, 422);
  await wrong.body?.cancel();
  const res = await ann.post("/account/delete", { confirm: PASSWORD });
  assert.equal(res.status, 303);
  const after = await call();
  assert.equal(after.status, 401);
  await after.body?.cancel();
  assert.equal((await sql`select from person`).length, 0);
  const [left] = await sql`select name, email from account where id = ${account}`;
  assert.deepEqual({ ...left }, { name: "deleted", email: null });
  const { ok } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.equal(ok, true);
  await new Visitor(gateway.address).register("ann@example.com");
});

test("a declared welcome is booked once with the account, as a gift", async () => {
  await using gateway = await openGateway({
    config: await configWithSite(`welcome_credit: "1.50"`),
  });
  await new Visitor(gateway.address).register("ann@example.com");
  await new Visitor(gateway.address).register("ann@example.com");
  const [person] = await gateway.gateway.database.sql`select account_id from person`;
  const { balance } = await (await gateway.admin("GET", `/accounts/${person!.account_id}`)).json();
  assert.equal(Number(balance.gift_balance), 1.5);
  assert.equal(Number(balance.available_balance), 1.5);
  const { ok } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.equal(ok, true);
});

test("registration can be closed", async () => {
  await using gateway = await openGateway({
    config: await configWithSite("registration: false"),
  });
  const ann = new Visitor(gateway.address);
  for (
    const res of [
      await ann.get("/register"),
      await ann.post("/register", { email: "ann@example.com", password: PASSWORD }),
    ]
  ) {
    assert.equal(res.status, 403);
    assert.match(await res.text(), /Registration is closed/);
  }
  assert.doesNotMatch(await (await ann.get("/")).text(), /href="\/register"/);
});

test("the operator's API gives a person a new password, and marks a person as an operator", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const reset = await (await gateway.admin("POST", "/people/ann@example.com/password")).json();
  assert.equal((await ann.get("/account")).status, 303);
  const res = await ann.post("/sign-in", { email: "ann@example.com", password: reset.password });
  assert.equal(res.status, 303);
  const marked = await gateway.admin("PUT", "/people/Ann@example.com", { operator: true });
  assert.equal(marked.status, 200);
  assert.equal((await marked.json()).operator, true);
  assert.match(await (await ann.get("/account")).text(), /Operator/);
  const missing = await gateway.admin("PUT", "/people/bob@example.com", { operator: true });
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
});

test("sessions kept in Postgres are good on every node", async () => {
  const config = `${await Deno.readTextFile(
    new URL("../helpers/config.yaml", import.meta.url),
  )}\nstorage: { sessions: postgres }\n`;
  await using gateway = await openGateway({ config });
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  assert.equal((await ann.get("/account")).status, 200);
  if (gateway.store.databaseUrl === undefined) return;
  await using second = await openGateway({ config, beside: gateway });
  const there = new Visitor(second.address);
  for (const [name, value] of ann.cookies) there.cookies.set(name, value);
  assert.equal((await there.get("/account")).status, 200);
  await ann.post("/sign-out", {});
  assert.equal((await there.get("/account")).status, 303);
});
