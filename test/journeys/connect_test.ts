import assert from "node:assert/strict";
import { connectAddress } from "../helpers/loopback.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const CALLBACK = "http://127.0.0.1:4711/callback";
const ASKED = {
  client: "my-terminal",
  response_type: "api_key",
  redirect_uri: CALLBACK,
  state: "s t/a+t&e=1",
};

async function ticketOf(visitor: Visitor): Promise<string> {
  const res = await visitor.post("/connect/browser-auth", {
    request: new URLSearchParams(ASKED).toString(),
    decision: "allow",
  });
  assert.equal(res.status, 303, await res.text());
  const ticket = /^\/connect\/browser-auth\/sent\?ticket=(\w+)$/.exec(res.headers.get("location")!);
  return ticket![1]!;
}

test("400 and a page that names the parameter, for every fault, and never a redirect", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const faults: [parameter: string, value: string | null][] = [
    ["client", null],
    ["client", "x"],
    ["client", "x".repeat(65)],
    ["client", "with space"],
    ["client", "ümlaut"],
    ["client", "<b>"],
    ["response_type", null],
    ["response_type", "code"],
    ["state", null],
    ["state", ""],
    ["state", "x".repeat(1025)],
    ["redirect_uri", null],
    ["redirect_uri", "https://127.0.0.1:4711/callback"],
    ["redirect_uri", "http://127.0.0.1/callback"],
    ["redirect_uri", "http://127.0.0.1:0/callback"],
    ["redirect_uri", "http://127.0.0.1:65536/callback"],
    ["redirect_uri", "http://127.0.0.1:04711/callback"],
    ["redirect_uri", "http://127.0.0.1:4711/callback/"],
    ["redirect_uri", "http://127.0.0.1:4711/callback?x=1"],
    ["redirect_uri", "http://127.0.0.1:4711/callback#x"],
    ["redirect_uri", "http://127.0.0.1:4711/"],
    ["redirect_uri", "http://127.0.0.1:4711@evil.example/callback"],
    ["redirect_uri", "http://user@127.0.0.1:4711/callback"],
    ["redirect_uri", "http://127.0.0.1.evil.example:4711/callback"],
    ["redirect_uri", "http://localhost.evil.example:4711/callback"],
    ["redirect_uri", "http://evil.example:4711/callback"],
    ["redirect_uri", "http://127.0.0.2:4711/callback"],
    ["redirect_uri", "http://[::1]:4711/callback"],
    ["redirect_uri", "HTTP://127.0.0.1:4711/callback"],
    ["redirect_uri", "http://127.0.0.1:4711/callback\n"],
    ["redirect_uri", "javascript:alert(1)"],
  ];
  for (const visitor of [ann, new Visitor(gateway.address)]) {
    for (const [parameter, value] of faults) {
      const query = new URLSearchParams(ASKED);
      if (value === null) query.delete(parameter);
      else query.set(parameter, value);
      const res = await visitor.get(`/connect/browser-auth?${query}`);
      assert.equal(res.status, 400, `${parameter}=${value}`);
      assert.equal(res.headers.get("location"), null);
      assert.ok((await res.text()).includes(`<code>${parameter}</code>`), `${parameter}=${value}`);
    }
  }
  const long = new URLSearchParams({ ...ASKED, state: "x".repeat(1025) });
  const said = await (await ann.get(`/connect/browser-auth?${long}`)).text();
  assert.match(said, /at most 1024 characters/);
  const twice = await ann.get(`/connect/browser-auth?${new URLSearchParams(ASKED)}&state=other`);
  assert.equal(twice.status, 400);
  // The form is not trusted with what the address was checked for.
  const forged = await ann.post("/connect/browser-auth", {
    request: new URLSearchParams({ ...ASKED, redirect_uri: "https://evil.example/callback" })
      .toString(),
    decision: "allow",
  });
  assert.equal(forged.status, 400);
  assert.equal(
    (await gateway.gateway.database.sql`select from api_key where name like 'BA:%'`).length,
    0,
  );
});

test("both loopback names and any port are taken", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  for (const host of ["127.0.0.1", "localhost"]) {
    for (const port of [1, 80, 65535]) {
      const address = connectAddress("", `http://${host}:${port}/callback`, { client: "a.b_c-1" });
      const res = await ann.get(address);
      assert.equal(res.status, 200);
      // The page may lead to that program only.
      const origin = new URL(`http://${host}:${port}`).origin;
      assert.match(
        res.headers.get("content-security-policy")!,
        new RegExp(`form-action 'self' ${origin.replaceAll(".", "\\.")};`),
      );
    }
  }
});

test("the older entry leads to the new one with the query as it was", async () => {
  await using gateway = await openGateway();
  const query = new URLSearchParams(ASKED).toString();
  const visitor = new Visitor(gateway.address);
  const old = await visitor.get(`/connect/cli-auth?${query}`);
  assert.equal(old.status, 303);
  assert.equal(old.headers.get("location"), `/connect/browser-auth?${query}`);
  const entry = await visitor.get(old.headers.get("location")!);
  assert.equal(entry.status, 303);
  const back = new URL(entry.headers.get("location")!, gateway.address);
  assert.equal(back.pathname, "/sign-in");
  assert.equal(back.searchParams.get("return_to"), `/connect/browser-auth?${query}`);
});

test("consent makes the key; each way of delivery gives it once, to that session only", async () => {
  await using gateway = await openGateway();
  const [ann, bob] = [new Visitor(gateway.address), new Visitor(gateway.address)];
  await ann.register("ann@example.com");
  await bob.register("bob@example.com");
  const ticket = await ticketOf(ann);
  const send = (visitor: Visitor, way: string) =>
    visitor.post("/connect/browser-auth/send", { ticket, way });
  assert.equal((await send(bob, "page")).status, 410);

  const keys = new Set<string>();
  for (const way of ["quiet", "page"]) {
    const res = await send(ann, way);
    assert.equal(res.status, 303);
    assert.equal(res.headers.get("referrer-policy"), "no-referrer");
    assert.equal(res.headers.get("cache-control"), "no-store");
    const target = new URL(res.headers.get("location")!);
    assert.equal(target.origin + target.pathname, CALLBACK);
    assert.deepEqual([...target.searchParams.keys()], ["api_key", "state"]);
    assert.equal(target.searchParams.get("state"), ASKED.state);
    const written = /[?&]state=([^&]*)/.exec(target.search)![1]!;
    assert.equal(decodeURIComponent(written), ASKED.state, "also to who knows nothing of forms");
    keys.add(target.searchParams.get("api_key")!);
    assert.equal((await send(ann, way)).status, 410);
  }
  assert.equal(keys.size, 1);
  const [key] = keys;
  const call = await gateway.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  assert.equal(call.status, 200);
  await call.body?.cancel();
  // What is stored is sealed, and the log has neither key nor ticket.
  const [row] = await gateway.gateway.database.sql`select sealed_key from browser_grant`;
  assert.ok(!new TextDecoder().decode(row!.sealed_key).includes("sk-"));
  assert.ok(!gateway.logged().includes(key!) && !gateway.logged().includes(ticket));
});

test("after its minute a key is not delivered any more", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const ticket = await ticketOf(ann);
  await gateway.gateway.database.sql`
    update browser_grant set expires_at = expires_at - interval '60 seconds'`;
  const page = await ann.get(`/connect/browser-auth/sent?ticket=${ticket}`);
  assert.equal(page.status, 410);
  const res = await ann.post("/connect/browser-auth/send", { ticket, way: "quiet" });
  assert.equal(res.status, 410);
});

test("five consents at once leave one key of that name", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  await Promise.all(Array.from({ length: 5 }, () => ticketOf(ann)));
  const rows = await gateway.gateway.database.sql<{ revoked: boolean }[]>`
    select revoked_at is not null as revoked from api_key where name = 'BA:my-terminal'`;
  assert.deepEqual(rows.map(({ revoked }) => revoked).sort(), [false, true, true, true, true]);
});

test("a second node refuses the replaced key from the moment the consent has answered", async () => {
  await using gateway = await openGateway();
  if (gateway.store.databaseUrl === undefined) return;
  await using second = await openGateway({ beside: gateway });
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const ticket = await ticketOf(ann);
  const sent = await ann.post("/connect/browser-auth/send", { ticket, way: "page" });
  const key = new URL(sent.headers.get("location")!).searchParams.get("api_key");
  const there = async () => {
    const res = await second.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
    await res.body?.cancel();
    return res.status;
  };
  assert.equal(await there(), 200);
  await ticketOf(ann);
  assert.equal(await there(), 401);
});
