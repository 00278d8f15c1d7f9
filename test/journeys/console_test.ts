import assert from "node:assert/strict";
import { openConsole, shippedWith } from "../helpers/console_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "the console sends a stranger to sign in, and back to where they were going",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    for (const path of ["/console", "/console/keys", "/console/models/sim-chat?x=1"]) {
      const res = await gateway.fetch(path, {
        redirect: "manual",
        headers: { accept: "text/html" },
      });
      await res.body?.cancel();
      assert.equal(res.status, 303);
      const target = new URL(res.headers.get("location")!, gateway.address);
      assert.equal(target.pathname, "/sign-in");
      assert.equal(target.searchParams.get("return_to"), path);
    }
    const proxied = await gateway.fetch("/console/api/balance", { redirect: "manual" });
    await proxied.body?.cancel();
    assert.equal(proxied.status, 303);
  },
);

Deno.test("a key is shown once, works, and is rejected after its revocation", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  const created = await person.post("/console/keys", { name: "  <b>laptop</b>  " });
  await created.body?.cancel();
  assert.equal(created.status, 303);
  const location = created.headers.get("location")!;
  const shown = await person.get(location);
  assert.equal(shown.status, 200);
  assert.equal(shown.headers.get("cache-control"), "private, no-store");
  const page = await shown.text();
  const again = await person.get(location);
  await again.body?.cancel();
  assert.equal(again.status, 303, "a reload shows nothing and creates nothing");
  assert.equal(again.headers.get("location"), "/console/keys");
  const { sql } = gateway.gateway.database;
  assert.equal((await sql`select from api_key where account_id = ${person.account}`).length, 1);
  const stash = await sql`select from session_stash`;
  assert.equal(stash.length, 0, "nothing of the key is left");
  const key = /sk-[0-9A-Za-z]{43}/.exec(page)![0];
  assert.ok(page.includes("&lt;b&gt;laptop&lt;/b&gt;") && !page.includes("<b>laptop</b>"));
  const call = () => gateway.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  const first = await call();
  await first.body?.cancel();
  assert.equal(first.status, 200);

  const list = await person.read("/console/keys");
  assert.ok(!list.includes(key), "never again");
  assert.ok(list.includes(key.slice(-4)));
  const id = /\/console\/keys\/(key_[0-9a-z]+)\/revoke/.exec(list)![1]!;
  const revoked = await person.post(`/console/keys/${id}/revoke`, {});
  await revoked.body?.cancel();
  assert.equal(revoked.status, 303);
  const after = await call();
  await after.body?.cancel();
  assert.equal(after.status, 401);
});

Deno.test("a key needs a name, and not one that browser authorization gives", STRICT, async () => {
  await using gateway = await openConsole();
  for (const name of ["", "   ", "BA:cli", "x".repeat(101)]) {
    const res = await gateway.person.post("/console/keys", { name });
    const text = await res.text();
    assert.equal(res.status, 400, name);
    assert.ok(text.includes('aria-invalid="true"'));
    assert.ok(!/sk-[0-9A-Za-z]{43}/.test(text));
  }
});

Deno.test("404 for revoking the key of another account", STRICT, async () => {
  await using gateway = await openConsole();
  const { keyId, key } = await gateway.newKey();
  const res = await gateway.person.post(`/console/keys/${keyId}/revoke`, {});
  await res.body?.cancel();
  assert.equal(res.status, 404);
  const call = await gateway.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  await call.body?.cancel();
  assert.equal(call.status, 200);
});

Deno.test(
  "the playground streams a chat as the session's account, at its price",
  STRICT,
  async () => {
    await using gateway = await openConsole({ cash: "1" });
    const { person } = gateway;
    const res = await person.post("/console/models/sim-chat/run", { prompt: "Hello" }, {
      accept: "text/event-stream",
    });
    const text = await res.text();
    assert.equal(res.status, 200, text);
    assert.match(res.headers.get("content-type")!, /^text\/event-stream/);
    assert.ok(text.endsWith("data: [DONE]\n\n"));
    const { sql } = gateway.gateway.database;
    const [hold] = await sql`select state, model, account_id from receipt`;
    assert.deepEqual({ ...hold }, {
      state: "settled",
      model: "sim-chat",
      account_id: person.account,
    });
    const keys = await sql`select from api_key where account_id = ${person.account}`;
    assert.equal(keys.length, 0, "no key was made for it");
    await gateway.verify();
  },
);

Deno.test(
  "without scripts the playground answers with a page that keeps the conversation",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const first = await person.post("/console/models/sim-chat/run", { prompt: "Tell me of gates" });
    assert.equal(first.status, 303, await first.text());
    const location = first.headers.get("location")!;
    const page = await person.read(location);
    assert.equal(await person.read(location), page, "a reload sends nothing again");
    const { sql } = gateway.gateway.database;
    assert.equal((await sql`select from receipt`).length, 1);
    assert.ok(page.includes("Tell me of gates"));
    const history = /name="history" value="([^"]*)"/.exec(page)![1]!.replaceAll("&quot;", '"');
    assert.equal(JSON.parse(history).length, 2);

    const broke = await gateway.register("broke@example.org");
    const refused = await broke.post("/console/models/sim-chat/run", { prompt: "Hello" });
    const said = await refused.text();
    assert.equal(refused.status, 402);
    assert.ok(said.includes("The balance does not cover this request"));
  },
);

Deno.test(
  "a request that no page of ours sent changes nothing and costs nothing",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const attempts: [string, Record<string, string>, Record<string, string>][] = [
      ["/console/models/sim-chat/run", { prompt: "x", csrf: "wrong" }, {}],
      ["/console/keys", { name: "x" }, { origin: "https://evil.example" }],
      ["/console/api/chat/completions", {}, { "x-csrf-token": "wrong" }],
    ];
    for (const [path, fields, headers] of attempts) {
      const res = await person.post(path, fields, headers);
      await res.body?.cancel();
      assert.equal(res.status, 403, path);
    }
    const { sql } = gateway.gateway.database;
    assert.equal((await sql`select from hold`).length, 0);
    assert.equal((await sql`select from receipt`).length, 0);
    assert.equal((await sql`select from api_key where account_id = ${person.account}`).length, 0);
  },
);

Deno.test("the API through the session is the same API, and nothing but it", STRICT, async () => {
  await using gateway = await openConsole({ cash: "3" });
  const { person } = gateway;
  const balance = await (await person.get("/console/api/balance")).json();
  assert.equal(balance.available_balance, "3.00");
  const outside = await person.get("/console/api/../../admin/v1/accounts", { accept: "*/*" });
  await outside.body?.cancel();
  assert.equal(outside.status, 401);
  const unknown = await person.get("/console/api/nowhere", { accept: "*/*" });
  assert.equal(unknown.status, 404);
  assert.equal((await unknown.json()).error.code, "unknown_endpoint");
});

Deno.test("the session's calls are held to the plan's rate", STRICT, async () => {
  const shipped = await shippedWith();
  await using gateway = await openConsole({
    config: shipped.replace("requests_per_minute: 600", "requests_per_minute: 2"),
  });
  const seen: number[] = [];
  for (let call = 0; call < 3; call++) {
    const res = await gateway.person.get("/console/api/balance");
    await res.body?.cancel();
    seen.push(res.status);
  }
  assert.deepEqual(seen, [200, 200, 429]);
});

Deno.test("operators' pages do not exist for others", STRICT, async () => {
  await using gateway = await openConsole();
  for (const page of ["accounts", "requests", "margins", "configuration", "providers", "queue"]) {
    const res = await gateway.person.get(`/console/operator/${page}`);
    await res.body?.cancel();
    assert.equal(res.status, 404, page);
  }
  const home = await gateway.person.read("/console");
  assert.ok(!home.includes("/console/operator"));
});

Deno.test(
  "every model page shows this account's price and nothing of who answers",
  STRICT,
  async () => {
    await using gateway = await openConsole({ environment: { OPENAI_API_KEY: "sk-canary" } });
    const { person } = gateway;
    const list = await person.read("/console/models");
    const ids = [...list.matchAll(/href="\/console\/models\/([^"]+)"/g)].map(([, id]) => id!);
    assert.ok(
      ids.includes("gpt-fast") && ids.includes("sim-video") && !ids.includes("sim-chat-pro"),
    );
    for (const id of ids) {
      const page = await person.read(`/console/models/${id}`);
      assert.ok(page.includes("Your price"), id);
      assert.ok(!/gpt-4o-mini|gpt-image-1|canary|simulator/.test(page), id);
    }
    const found = await person.read("/console/models?q=half+a+minute");
    assert.deepEqual(
      [...found.matchAll(/href="\/console\/models\/([^"]+)"/g)].map(([, id]) => id),
      ["sim-video-long"],
    );
    const hidden = await person.get("/console/models/sim-chat-pro");
    await hidden.body?.cancel();
    assert.equal(hidden.status, 404);
  },
);

Deno.test("billing shows every movement, its receipt, and the same as CSV", STRICT, async () => {
  await using gateway = await openConsole({ cash: "12.5" });
  const { person } = gateway;
  const made = await person.post("/console/models/sim-chat/run", { prompt: "Hello" });
  await made.body?.cancel();
  const page = await person.read("/console/billing");
  assert.ok(page.includes("+$12.50") && page.includes("Request to sim-chat"));
  const id = /receipts\/(req_[0-9a-z]+)/.exec(page)![1]!;
  const receipt = await person.read(`/console/billing/receipts/${id}`);
  assert.ok(receipt.includes(" cash") && receipt.includes("output tokens"));
  const csv = await (await person.get("/console/billing/statement.csv")).text();
  const [columns, , charge] = csv.trimEnd().split("\r\n");
  assert.match(
    columns!,
    /,shortfall,model,key,key_name,user,metadata,capped,endpoint,input_tokens,/,
  );
  assert.match(charge!, /,sim-chat,[^,]*,[^,]*,,,,chat,\d+,/);
  assert.equal(csv.trimEnd().split("\r\n").length, 3);
  assert.ok(csv.includes(id));
  const later = await (await person.get("/console/billing/statement.csv?from=2126-01-01")).text();
  assert.equal(later.trimEnd().split("\r\n").length, 1);
  const wrong = await person.get("/console/billing?from=yesterday");
  await wrong.body?.cancel();
  assert.equal(wrong.status, 400);

  const other = await gateway.register("other@example.org");
  const foreign = await other.get(`/console/billing/receipts/${id}`);
  await foreign.body?.cancel();
  assert.equal(foreign.status, 404);
});

Deno.test("an operator books credit once per reference, and sets the plan", STRICT, async () => {
  await using gateway = await openConsole({ cash: "0" });
  const { person } = gateway;
  await person.makeOperator();
  const customer = await gateway.register("bob@example.org");
  const path = `/console/operator/accounts/${customer.account}`;
  const book = (amount: string, reference = "invoice 7") =>
    person.post(`${path}/credits`, { kind: "cash", amount, reference, expires_at: "" });
  for (const amount of ["10.00", "10.00"]) {
    const res = await book(amount);
    await res.body?.cancel();
    assert.equal(res.status, 303);
  }
  for (const amount of ["11.00", "-1", "1e3", "ten"]) {
    const res = await book(amount);
    await res.body?.cancel();
    assert.equal(res.status, 400, amount);
  }
  const unnamed = await book("1", " ");
  await unnamed.body?.cancel();
  assert.equal(unnamed.status, 400);
  const plan = await person.post(`${path}/plan`, { plan: "pro", ends_at: "2126-01-31" });
  await plan.body?.cancel();
  assert.equal(plan.status, 303);
  const { available_balance, plan: now } = await (await customer.get("/console/api/balance"))
    .json();
  assert.deepEqual([available_balance, now.name], ["10.00", "Pro"]);
  const shown = await person.read(path);
  assert.ok(shown.includes("$10.00") && shown.includes("bob@example.org"));
  const found = await person.read("/console/operator/accounts?q=BOB%40");
  assert.ok(found.includes(customer.account) && !found.includes(person.account));

  const refused = await customer.post(`${path}/credits`, {
    kind: "cash",
    amount: "1000",
    reference: "mine",
  });
  await refused.body?.cancel();
  assert.equal(refused.status, 404);
  await gateway.verify();
});

Deno.test("an operator sees what came in and what upstreams charge for it", STRICT, async () => {
  const shipped = await shippedWith();
  const config = shipped.replace(
    "- provider: simulator\n        model: chat\n",
    '- provider: simulator\n        model: chat\n        cost: { price: "0.000001", unit: call }\n',
  );
  assert.notEqual(config, shipped);
  await using gateway = await openConsole({ config });
  const { person } = gateway;
  await person.makeOperator();
  for (let call = 0; call < 3; call++) {
    const made = await person.post("/console/models/sim-chat/run", { prompt: "Hello" });
    await made.body?.cancel();
  }
  const { sql } = gateway.gateway.database;
  const rows = await sql`select upstream, cost from receipt`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    Array(3).fill({ upstream: "simulator/chat", cost: "0.000001000000" }),
  );
  const page = await person.read("/console/operator/margins");
  assert.ok(page.includes("sim-chat") && page.includes("$0.000003"), page);
  for (const [by, line] of [["provider", "simulator"], ["plan", "free"], ["account", "acc_"]]) {
    const grouped = await person.read(`/console/operator/margins?by=${by}`);
    assert.ok(grouped.includes(`By ${by}`) && grouped.includes(`>${line}`), grouped);
  }
  const own = await person.read("/console");
  assert.ok(!own.includes("simulator/chat"));
});

Deno.test("an operator reloads the configuration and reads every fault", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  await person.makeOperator();
  const before = gateway.gateway.configStore.current.version;
  const text = await Deno.readTextFile(gateway.configFile);
  await Deno.writeTextFile(gateway.configFile, text.replace("type: chat\n", "type: chatt\n"));
  const reload = () => person.post("/console/operator/configuration/reload", {});
  await (await reload()).body?.cancel();
  const faulty = await person.read("/console/operator/configuration");
  assert.ok(
    faulty.includes("The previous configuration is still active") &&
      faulty.includes("models[0].type"),
  );
  assert.equal(gateway.gateway.configStore.current.version, before);

  await Deno.writeTextFile(
    gateway.configFile,
    text.replace('price: "0.04", unit: image', 'price: "0.05", unit: image'),
  );
  await (await reload()).body?.cancel();
  const good = await person.read("/console/operator/configuration");
  assert.ok(good.includes("+25.0 %"), good);
  assert.notEqual(gateway.gateway.configStore.current.version, before);
});
