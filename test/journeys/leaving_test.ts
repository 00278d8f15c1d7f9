import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { openTaskEngine } from "../helpers/task_engine.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "who deletes their account leaves nothing at work: tasks, endpoints, secrets, keys and sessions end",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await openMediaGateway();
    const { sql } = gateway.gateway.database;
    const ann = new Visitor(gateway.address);
    await ann.register("ann@example.com");
    const elsewhere = new Visitor(gateway.address);
    await elsewhere.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
    const [{ account }] = await sql<[{ account: string }]>`
      select account_id as account from person`;
    const { key } = await (await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" }))
      .json();
    const credit = { kind: "cash", amount: "5.00", reference: "r1" };
    await (await gateway.admin("POST", `/accounts/${account}/credits`, credit)).body?.cancel();
    const post = async (path: string, body: Json): Promise<Json> => {
      const res = await gateway.fetch(path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      assert.ok(res.ok, await res.clone().text());
      return await res.json();
    };
    await post("/v1/webhook_endpoints", { url: `${receiver.url}/endpoint` });
    const submitVideo = (prompt: string, more: Json = {}) =>
      post("/v1/videos/generations", { model: "video-model", prompt, duration: 1, ...more });
    await submitVideo("[[simulate: seconds=600]] a tide");
    await submitVideo("[[simulate: seconds=600]] a tide", {
      callback_url: `${receiver.url}/callback`,
    });
    await until(
      "both run",
      async () => (await sql`select from task where status = 'running'`).length === 2,
    );
    await post("/v1/images/generations", {
      model: "image-model",
      prompt: "[[simulate: status=429, retry_after=600]] a tide",
    });
    // Another's, which goes on.
    const other = await gateway.submit("/v1/videos/generations", {
      model: "video-model",
      prompt: "[[simulate: seconds=600]] a tide",
      duration: 1,
    });

    const res = await ann.post("/account/delete", { confirm: PASSWORD });
    assert.equal(res.status, 303);
    await until("its tasks are over", async () => {
      const rows = await sql<{ status: string }[]>`
        select status from task where account_id = ${account} order by id`;
      return rows.every(({ status }) => status === "cancelled");
    }, 30);
    const { balance } = await (await gateway.admin("GET", `/accounts/${account}`)).json();
    assert.equal(Number(balance.frozen_balance), 0);
    assert.equal(Number(balance.cash_balance), 5);
    const [left] = await sql`
      select (select count(*)::int from webhook_endpoint
               where account_id = ${account} and deleted_at is null) as endpoints,
             (select count(*)::int from webhook_secret where account_id = ${account}) as secrets,
             (select count(*)::int from webhook_event where account_id = ${account}) as events`;
    assert.deepEqual({ ...left }, { endpoints: 0, secrets: 0, events: 0 });
    assert.equal(receiver.received.length, 0);
    const call = await gateway.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
    assert.equal(call.status, 401);
    await call.body?.cancel();
    const page = await elsewhere.get("/account");
    assert.equal(page.status, 303, "signed out everywhere");
    const another = await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" });
    assert.equal(another.status, 404, "and no new key is made");
    await another.body?.cancel();
    assert.equal((await gateway.task(other.id)).completed_at, null);
    await gateway.verify();
  },
);

Deno.test(
  "a task that was on its way when its account was closed is cancelled, and no event is sent",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const { id } = await engine.submit({ model: "image-model" });
    await sql`update task set callback_url = 'http://127.0.0.1:1/'`;
    await sql`update account set closed_at = now() where id = ${engine.account}`;
    const { status, hold_state } = await engine.finish(id);
    assert.deepEqual([status, hold_state], ["cancelled", "released"]);
    assert.equal((await sql`select from webhook_event`).length, 0);
    assert.ok((await engine.verify()).ok);
  },
);

Deno.test(
  "404 for signed addresses of a deleted account, at once and on every node",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const { sql } = gateway.gateway.database;
    await using nodes = new AsyncDisposableStack();
    const addresses = [gateway.address];
    if (gateway.store.databaseUrl !== undefined) {
      const second = nodes.use(
        await openMediaGateway({ beside: gateway, store: gateway.store, cash: "0" }),
      );
      addresses.push(second.address);
    }
    const ann = new Visitor(gateway.address);
    await ann.register("ann@example.com");
    const [{ account }] = await sql<[{ account: string }]>`
      select account_id as account from person`;
    const { key } = await (await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" }))
      .json();
    const credit = { kind: "cash", amount: "5.00", reference: "r1" };
    await (await gateway.admin("POST", `/accounts/${account}/credits`, credit)).body?.cancel();
    const request = { model: "image-model", prompt: "a tide" };
    const authorization = `Bearer ${key}`;
    const { id } = await gateway.submit("/v1/images/generations", request, { authorization });
    const other = await gateway.submit("/v1/images/generations", request);
    const theirs = (await gateway.ended(other.id)).output[0].url;
    let mine = "";
    await until("Ann's task is done", async () => {
      const task = await (await gateway.get(`/v1/tasks/${id}`, { authorization })).json();
      mine = task.output?.[0]?.url ?? "";
      return mine !== "";
    });
    const statuses = async (url: string) => {
      const { pathname, search } = new URL(url);
      return await Promise.all(addresses.map(async (address) => {
        const res = await fetch(address + pathname + search);
        await res.body?.cancel();
        return res.status;
      }));
    };
    const all = (status: number) => addresses.map(() => status);
    assert.deepEqual(await statuses(mine), all(200));
    assert.equal((await ann.post("/account/delete", { confirm: PASSWORD })).status, 303);
    assert.deepEqual(await statuses(mine), all(404));
    assert.deepEqual(await statuses(theirs), all(200), "another account's still work");
    await gateway.verify();
  },
);
