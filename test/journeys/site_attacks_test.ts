import assert from "node:assert/strict";
import { argon2id } from "hash-wasm";
import { Throttle } from "../../src/domain/accounts/throttle.ts";
import { until } from "../helpers/chat_gateway.ts";
import { openConsole, shippedWith, type SignedInPerson } from "../helpers/console_gateway.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** What a page or a form answered with; its text is not of interest. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const res = await answer;
  await res.body?.cancel();
  return res.status;
}

/** Sends a target as it stands: `fetch` would tidy it up first. */
async function rawStatus(address: string, target: string, cookie: string): Promise<string> {
  const { hostname, port } = new URL(address);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(
    `GET ${target} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncookie: ${cookie}\r\n` +
      "connection: close\r\n\r\n",
  ));
  const answer = await new Response(connection.readable).text();
  return answer.slice(9, 12);
}

Deno.test("the session's way to the API leads nowhere but there", STRICT, async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const cookie = `tollgate_session=${ann.cookies.get("tollgate_session")}`;
  assert.equal(await rawStatus(gateway.address, "/console/api/models", cookie), "200");
  for (
    const target of [
      "/console/api/../../admin/v1/accounts",
      "/console/api/%2e%2e/%2E%2E/admin/v1/accounts",
      "/console/api/..\\..\\admin/v1/accounts",
      "/console/api/../../metrics",
      "/console/api/../operator/accounts",
      "/console/api/..%2f..%2fadmin/v1/accounts",
      "/console/api",
    ]
  ) assert.equal(await rawStatus(gateway.address, target, cookie), "404", target);
});

Deno.test("guessing through the form for registering counts like guessing", STRICT, async () => {
  await using gateway = await openGateway();
  await new Visitor(gateway.address).register("ann@example.com");
  // From many places at once: a place has two tries left, through whichever form.
  using throttle = new Throttle(gateway.gateway.database.sql);
  for (let i = 0; i < 60; i++) {
    await throttle.press("sign-in:ann@example.com", { burst: 180, everySeconds: 20 });
  }
  const guess = (path: string) =>
    statusOf(
      new Visitor(gateway.address).post(path, {
        email: "ann@example.com",
        password: "one more guess",
      }),
    );
  assert.deepEqual([await guess("/sign-in"), await guess("/register")], [401, 422]);
  for (const path of ["/sign-in", "/register"]) assert.equal(await guess(path), 429, path);
});

Deno.test("422 for an email with invisible characters", STRICT, async () => {
  await using gateway = await openGateway();
  for (const letter of ["\u0001", "\u200b", "\u202e", "\u00ad"]) {
    const email = `ann${letter}@example.com`;
    const res = new Visitor(gateway.address).post("/register", { email, password: "long enough" });
    assert.equal(await statusOf(res), 422, JSON.stringify(letter));
  }
});

Deno.test("the number of keys is limited, in the console and by authorizing", STRICT, async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  const { sql } = gateway.gateway.database;
  const [person] = await sql`select account_id from person`;
  const statuses: number[] = [];
  for (let i = 0; i < 21; i++) {
    statuses.push(await statusOf(ann.post("/console/keys", { name: `key ${i}` })));
  }
  assert.deepEqual(statuses, [...Array(20).fill(303), 429]);

  await sql`delete from throttle`;
  await sql`
    insert into api_key (id, account_id, name, hash, last4)
    select 'key_' || n, ${person!.account_id}, 'more', sha256(n::text::bytea), '0000'
      from generate_series(1, 30) n`;
  assert.equal(await statusOf(ann.post("/console/keys", { name: "one more" })), 400);
  const request = new URLSearchParams({
    client: "terminal",
    response_type: "api_key",
    redirect_uri: "http://127.0.0.1:4711/callback",
    state: "s",
  }).toString();
  const grant = () => ann.post("/connect/browser-auth", { request, decision: "allow" });
  assert.equal(await statusOf(grant()), 400);
  await sql`update api_key set revoked_at = now() where id = 'key_1'`;
  assert.equal(await statusOf(grant()), 303);
  // To replace a key is not to have one more.
  assert.equal(await statusOf(grant()), 303);
});

Deno.test("what a cookie says about coming back is checked like an address", STRICT, async () => {
  await using provider = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/access_token")) {
        return Response.json({ access_token: "t", token_type: "bearer" });
      }
      return Response.json(
        pathname.endsWith("/emails")
          ? [{ email: "ann@example.com", primary: true, verified: true }]
          : { id: 17, login: "ann" },
      );
    },
  );
  const issuer = `http://127.0.0.1:${provider.addr.port}`;
  await using gateway = await openGateway({
    config: await configWithSite(
      `sign_in:\n  - { id: github, kind: github, issuer: "${issuer}", client_id: c, client_secret: "\${S}" }`,
    ),
    environment: { S: "secret" },
  });
  const ann = new Visitor(gateway.address);
  await ann.get("/sign-in/github");
  const kept = JSON.parse(atob(ann.cookies.get("tollgate_oauth")!));
  const planted = { ...kept, returnTo: "https://evil.example/" };
  ann.cookies.set("tollgate_oauth", btoa(JSON.stringify(planted)).replace(/=+$/, ""));
  const back = await ann.get(`/sign-in/github/callback?code=good&state=${kept.state}`);
  assert.equal(back.headers.get("location"), "/console");
  // Nor can it say who an identity belongs to.
  const bob = new Visitor(gateway.address);
  await bob.register("bob@example.com");
  bob.cookies.set(
    "tollgate_oauth",
    btoa(JSON.stringify({ ...kept, link: "made up" })).replace(/=+$/, ""),
  );
  await bob.get(`/sign-in/github/callback?code=good&state=${kept.state}`);
  const owners = await gateway.gateway.database.sql`
    select p.email from person_identity i join person p on p.id = i.person_id`;
  assert.deepEqual(owners.map(({ email }) => email), ["ann@example.com"]);
});

/** One of everything an account can have, as addresses below /console. */
async function belongings(person: SignedInPerson) {
  const html = async (answer: Promise<Response>) => await (await answer).text();
  await html(person.post("/console/keys", { name: "k" }));
  const key = /keys\/(key_\w+)\/revoke/.exec(await person.read("/console/keys"));
  await html(person.post("/console/webhooks", { url: "http://127.0.0.1:1/hook" }));
  const endpoint = /webhooks\/(we_\w+)"/.exec(await person.read("/console/webhooks"));
  const sent = await person.post(`/console/webhooks/${endpoint![1]}/test`, {});
  await sent.body?.cancel();
  const delivery = /deliveries\/(\w+)/.exec(sent.headers.get("location")!);
  const begun = await person.post("/console/models/sim-image/run", { prompt: "a tide" });
  await begun.body?.cancel();
  const task = /tasks\/(\w+)/.exec(begun.headers.get("location")!);
  const receipt = /mono break">(req_\w+)</.exec(await person.read(`/console/tasks/${task![1]}`));
  return [key, endpoint, delivery, task, receipt].map((match) => match![1]!);
}

Deno.test(
  "404 for everything of another account, and it stays as it was",
  STRICT,
  async () => {
    await using gateway = await openConsole({
      config: await shippedWith("outbound:\n  allow_private: true\n"),
    });
    const { person: ann } = gateway;
    const [key, endpoint, delivery, task, receipt] = await belongings(ann);
    const bob = await gateway.register("bob@example.org");
    const read = [
      `/console/tasks/${task}`,
      `/console/tasks/${task}/results`,
      `/console/billing/receipts/${receipt}`,
      `/console/requests/${receipt}`,
      `/console/api/requests/${receipt}`,
      `/console/webhooks/${endpoint}`,
      `/console/webhooks/${endpoint}/secret`,
      `/console/webhooks/deliveries/${delivery}`,
      `/console/api/tasks/${task}`,
      `/console/operator/accounts/${ann.account}`,
      `/console/operator/requests/${receipt}`,
    ];
    for (const path of read) {
      assert.equal(await statusOf(bob.get(path)), 404, path);
      if (!path.includes("operator")) assert.equal(await statusOf(ann.get(path)), 200, path);
    }
    const fields = { url: "http://127.0.0.1:1/mine", overlap: "0", plan: "free" };
    const changes = [
      `/console/keys/${key}/revoke`,
      `/console/tasks/${task}/cancel`,
      ...[
        "",
        "/enable",
        "/disable",
        "/redeliver",
        "/test",
        "/secret/rotate",
        "/delete",
        "/toString",
      ]
        .map((act) => `/console/webhooks/${endpoint}${act}`),
      `/console/webhooks/deliveries/${delivery}/redeliver`,
      `/console/operator/accounts/${ann.account}/plan`,
      `/console/operator/accounts/${ann.account}/keys/${key}/revoke`,
      `/console/operator/queue/tasks/${task}/replay`,
      `/console/operator/queue/deliveries/${delivery}/redeliver`,
    ];
    const { sql } = gateway.gateway.database;
    const state = async () =>
      JSON.stringify([
        await sql`select revoked_at from api_key where id = ${key!}`,
        await sql`select url, disabled_at, deleted_at from webhook_endpoint`,
        await sql`select id, secret from webhook_secret order by id`,
        await sql`select id from webhook_delivery`,
      ]);
    // The event of the task's end is a delivery, too: it must not come in between.
    const isTold = async () => (await sql`select from webhook_delivery`).length === 2;
    await until("the task has ended", isTold, 60);
    const before = await state();
    for (const path of changes) assert.equal(await statusOf(bob.post(path, fields)), 404, path);
    assert.equal(await state(), before);

    // A person who loses the operator role loses its pages at the next request.
    await bob.makeOperator();
    assert.equal(await statusOf(bob.get("/console/operator/accounts")), 200);
    await sql`update person set is_operator = false`;
    assert.equal(await statusOf(bob.get("/console/operator/accounts")), 404);
  },
);

Deno.test("401 when the password was changed while the old one was compared", STRICT, async () => {
  await using gateway = await openGateway();
  await new Visitor(gateway.address).register("ann@example.com");
  const { sql } = gateway.gateway.database;
  // Comparing takes long enough for a change in between.
  const slow = await argon2id({
    password: PASSWORD,
    salt: crypto.getRandomValues(new Uint8Array(16)),
    memorySize: 19_456,
    iterations: 12,
    parallelism: 1,
    hashLength: 32,
    outputType: "encoded",
  });
  await sql`update person set password_hash = ${slow}`;
  const thief = new Visitor(gateway.address);
  const asked = thief.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
  while ((await sql`select from throttle`).length < 4) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
  await new Promise((resume) => setTimeout(resume, 100));
  await sql`update person set password_hash = 'another'`;
  assert.equal(await statusOf(asked), 401);
  assert.equal(thief.cookies.has("tollgate_session"), false);
});
