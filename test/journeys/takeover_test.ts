import assert from "node:assert/strict";
import { PASSWORD_COST } from "../../src/domain/accounts/passwords.ts";
import { openGitHub, signInWith } from "../helpers/github.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const VICTIM = "victim@example.com";
const environment = { GITHUB_SECRET: "s3cret" };

function userOf(id: number, email: string) {
  return {
    id,
    login: `u${id}`,
    name: `U ${id}`,
    emails: [{ email, primary: true, verified: true }],
  };
}

/** Signs in at GitHub, or connects it when a link of the account page is given. */
async function throughGitHub(browser: Visitor, start = "/sign-in/github?return_to=/account") {
  const away = await browser.get(start);
  const state = new URL(away.headers.get("location")!).searchParams.get("state");
  return await browser.get(`/sign-in/github/callback?code=good&state=${state}`);
}

async function connectGitHub(browser: Visitor): Promise<void> {
  const page = await (await browser.get("/account")).text();
  const link = /href="(\/sign-in\/github\?[^"]*link=[^"]*)"/.exec(page)![1]!;
  await throughGitHub(browser, link.replaceAll("&amp;", "&"));
}

async function makeKey(browser: Visitor, name: string): Promise<string> {
  const created = await browser.post("/console/keys", { name });
  const page = await (await browser.get(created.headers.get("location")!)).text();
  return /aria-label="API key">([^<]+)</.exec(page)![1]!;
}

/** The key that a program gets through the browser. */
async function browserKey(browser: Visitor): Promise<string> {
  const request = new URLSearchParams({
    client: "tool",
    response_type: "api_key",
    redirect_uri: "http://127.0.0.1:9/callback",
    state: "s".repeat(32),
  }).toString();
  const agreed = await browser.post("/connect/browser-auth", { request, decision: "allow" });
  const ticket = new URL(agreed.headers.get("location")!, browser.address).searchParams
    .get("ticket")!;
  const sent = await browser.post("/connect/browser-auth/send", { ticket, way: "page" });
  return new URL(sent.headers.get("location")!).searchParams.get("api_key")!;
}

async function statusWith(node: TestGateway, key: string): Promise<number> {
  const res = await node.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  await res.body?.cancel();
  return res.status;
}

test("a stranger who registered another person's email first keeps nothing once its owner gets a password", async () => {
  await using github = openGitHub(userOf(66, "stranger@example.org"));
  const config = await configWithSite(signInWith(github.address));
  await using gateway = await openGateway({ config, environment });
  await using opened = new AsyncDisposableStack();
  const nodes = gateway.store.databaseUrl === undefined ? [gateway] : [
    gateway,
    opened.use(await openGateway({ config, environment, beside: gateway })),
  ];
  const stranger = new Visitor(gateway.address);
  await stranger.register(VICTIM);
  await connectGitHub(stranger);
  const keys = [await makeKey(stranger, "mine"), await browserKey(stranger)];
  const hook = await gateway.fetch("/v1/webhook_endpoints", {
    method: "POST",
    headers: { authorization: `Bearer ${keys[0]}`, "content-type": "application/json" },
    body: JSON.stringify({ url: "https://stranger.example.org/hook" }),
  });
  assert.equal(hook.status, 201, await hook.text());
  // Every node has the keys in memory.
  for (const node of nodes) {
    for (const key of keys) assert.equal(await statusWith(node, key), 200);
  }

  // The email of this account is not verified: it gets no rights over others.
  const tooEarly = await gateway.admin("PUT", `/people/${VICTIM}`, { operator: true });
  assert.equal(tooEarly.status, 400);
  const error = await errorOf(tooEarly);
  assert.deepEqual([error.code, error.param], ["invalid_value", "operator"]);
  assert.match(error.message, /not verified/);

  const reset = await (await gateway.admin("POST", `/people/${VICTIM}/password`)).json();
  for (const node of nodes) {
    for (const key of keys) assert.equal(await statusWith(node, key), 401);
  }
  assert.deepEqual(reset.removed.identities, ["github"]);
  assert.deepEqual(
    reset.removed.api_keys.map(({ name }: { name: string }) => name).sort(),
    ["BA:tool", "mine"],
  );
  assert.equal(reset.removed.webhook_endpoints, 1);
  assert.ok(reset.removed.sessions >= 1);
  assert.ok(reset.email_verified > 0);

  const owner = new Visitor(gateway.address);
  const signedIn = await owner.post("/sign-in", { email: VICTIM, password: reset.password });
  assert.equal(signedIn.status, 303);
  const granted = await gateway.admin("PUT", `/people/${VICTIM}`, { operator: true });
  assert.equal(granted.status, 200);
  await granted.body?.cancel();
  assert.equal((await owner.get("/console/operator/accounts")).status, 200);

  assert.equal((await stranger.get("/account")).status, 303, "the session has ended");
  const known = await new Visitor(gateway.address).post("/sign-in", {
    email: VICTIM,
    password: PASSWORD,
  });
  assert.equal(known.status, 401, "the password has");
  const elsewhere = new Visitor(gateway.address);
  await throughGitHub(elsewhere);
  const page = await (await elsewhere.get("/account")).text();
  assert.match(page, /stranger@example\.org/, "the identity is its owner's own account");
  assert.doesNotMatch(page, /victim@example\.com/);

  // What the owner adds is confirmed: another reset takes the sessions only.
  const own = await makeKey(owner, "own");
  const again = await (await gateway.admin("POST", `/people/${VICTIM}/password`)).json();
  assert.deepEqual([again.removed.identities, again.removed.api_keys], [[], []]);
  for (const node of nodes) assert.equal(await statusWith(node, own), 200);
  assert.equal((await owner.get("/account")).status, 303);
});

test("keys and identities that a session adds during the reset do not survive it", async () => {
  await using github = openGitHub(userOf(66, "stranger@example.org"));
  await using gateway = await openGateway({
    config: await configWithSite(signInWith(github.address)),
    environment,
    // As long as in service, so that the rest happens during the reset.
    timing: { passwords: PASSWORD_COST },
  });
  const { sql } = gateway.gateway.database;
  const stranger = new Visitor(gateway.address);
  await stranger.register(VICTIM);
  const page = await (await stranger.get("/account")).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!;
  const cookie = [...stranger.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const add = (n: number) =>
    gateway.fetch("/console/keys", {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: gateway.address },
      body: new URLSearchParams({ csrf, name: `k${n}` }),
    }).then((res) => res.body?.cancel());
  const [, reset] = await Promise.all([
    Promise.all(Array.from({ length: 18 }, (_, n) => add(n))),
    gateway.admin("POST", `/people/${VICTIM}/password`),
    connectGitHub(stranger).catch(() => undefined),
  ]);
  assert.equal(reset.status, 200);
  await reset.body?.cancel();
  const [account] = await sql`select account_id from person where email = ${VICTIM}`;
  const left = await sql`
    select from api_key where account_id = ${account!.account_id} and revoked_at is null`;
  assert.equal(left.length, 0);
  // After the reset the stranger's own identity is that of a new person.
  const identities = await sql`
    select from person_identity i join person p on p.id = i.person_id where p.email = ${VICTIM}`;
  assert.equal(identities.length, 0);
});

test("an identity with the address of an unverified account opens nothing and changes nothing", async () => {
  await using github = openGitHub(userOf(17, VICTIM));
  await using gateway = await openGateway({
    config: await configWithSite(signInWith(github.address)),
    environment,
  });
  const { sql } = gateway.gateway.database;
  const stranger = new Visitor(gateway.address);
  await stranger.register(VICTIM);
  const owner = new Visitor(gateway.address);
  assert.equal((await throughGitHub(owner)).headers.get("location"), "/sign-in");
  assert.equal(owner.cookies.has("tollgate_session"), false);
  const told = await (await owner.get("/sign-in")).text();
  assert.match(told, /An account with the email victim@example\.com already exists/);
  assert.match(told, /ask the operator for a new password/);
  assert.equal((await sql`select from person_identity`).length, 0);
  const [row] = await sql`select email_verified_at from person`;
  assert.equal(row!.email_verified_at, null);
});

test("connecting a provider that vouches for the account's own address verifies it and removes nothing", async () => {
  await using github = openGitHub(userOf(66, "other@example.org"));
  await using gateway = await openGateway({
    config: await configWithSite(signInWith(github.address)),
    environment,
  });
  const grant = async (email: string) => {
    const res = await gateway.admin("PUT", `/people/${email}`, { operator: true });
    await res.body?.cancel();
    return res.status;
  };
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const key = await makeKey(ann, "own");
  // Another address says nothing about this one.
  await connectGitHub(ann);
  assert.equal(await grant("ann@example.com"), 400);
  github.user = userOf(17, "ann@example.com");
  await ann.post("/account/identities/remove", { provider: "github" });
  await connectGitHub(ann);
  assert.equal(await grant("ann@example.com"), 200);
  assert.equal(await statusWith(gateway, key), 200);
  assert.equal((await ann.get("/console/operator/accounts")).status, 200);
  // A person made from an identity has a verified address from the start.
  github.user = userOf(18, "bob@example.com");
  await throughGitHub(new Visitor(gateway.address));
  assert.equal(await grant("bob@example.com"), 200);
});
