import assert from "node:assert/strict";
import { Hono } from "hono";
import type { AuditAction } from "../../src/domain/audit/audit.ts";
import type { AuditEntry } from "../../src/domain/audit/list_audit.ts";
import { mountConsole } from "../../src/site/console/mount.tsx";
import type { SiteDeps, SiteEnv } from "../../src/site/context.ts";
import { mountAccount } from "../../src/site/pages/account.tsx";
import { mountConnect } from "../../src/site/pages/connect.tsx";
import { mountOAuth } from "../../src/site/pages/oauth.tsx";
import { mountSignIn } from "../../src/site/pages/sign_in.ts";
import { type ConsoleGateway, openConsole } from "../helpers/console_gateway.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

async function audit(gateway: TestGateway, query = ""): Promise<AuditEntry[]> {
  const response = await gateway.admin("GET", `/audit?${query}`);
  assert.equal(response.status, 200);
  return (await response.json()).data;
}

/** What each form of the site is called in the audit log; null where it only uses the API or delivers a key. */
const FORMS: Readonly<Record<string, AuditAction | null>> = {
  "/sign-in": "session.start",
  "/sign-out": "session.end",
  "/register": "person.register",
  "/account/name": "account.rename",
  "/account/password": "password.change",
  "/account/sessions/end": "session.end",
  "/account/sessions/end-all": "session.end",
  "/account/delete": "account.delete",
  "/account/identities/remove": "identity.unlink",
  "/connect/browser-auth": "key.create",
  "/connect/browser-auth/send": null,
  "/console/keys": "key.create",
  "/console/keys/:id": "key.update",
  "/console/keys/:id/revoke": "key.revoke",
  "/console/models/:id/run": null,
  "/console/models/:id/quote": null,
  "/console/tasks/:id/cancel": "task.cancel",
  "/console/webhooks": "webhook.create",
  "/console/webhooks/callback-secret/rotate": "webhook.rotate_secret",
  "/console/webhooks/deliveries/:id/redeliver": "webhook.redeliver",
  "/console/webhooks/:id": "webhook.update",
  "/console/webhooks/:id/secret/rotate": "webhook.rotate_secret",
  "/console/webhooks/:id/:action": "webhook.enable",
  "/console/operator/accounts": "account.create",
  "/console/operator/accounts/:id/credits": "account.credit",
  "/console/operator/accounts/:id/plan": "account.update",
  "/console/operator/accounts/:id/settings": "account.update",
  "/console/operator/accounts/:id/suspend": "account.update",
  "/console/operator/accounts/:id/resume": "account.update",
  "/console/operator/accounts/:id/close": "account.update",
  "/console/operator/accounts/:id/keys/:key/revoke": "key.revoke",
  "/console/operator/tokens": "admin_token.create",
  "/console/operator/tokens/:id/revoke": "admin_token.revoke",
  "/console/operator/configuration/reload": "config.reload",
  "/console/operator/queue/tasks/:id/replay": "task.replay",
  "/console/operator/queue/deliveries/:id/redeliver": "webhook.redeliver",
};

Deno.test("the table of forms has every form of the site", () => {
  const site = new Hono<SiteEnv>();
  const part: unknown = new Proxy(() => part, { get: () => part });
  for (const mount of [mountSignIn, mountOAuth, mountConnect, mountAccount, mountConsole]) {
    mount(site, part as SiteDeps);
  }
  const posted = site.routes.filter(({ method }) => method === "POST").map(({ path }) => path);
  assert.deepEqual([...new Set(posted)].sort(), Object.keys(FORMS).sort());
});

/** Sends forms as one person, and compares what the audit log says about each. */
function formsOf(gateway: ConsoleGateway, person: ConsoleGateway["person"]) {
  const tried = new Set<string>();
  return {
    tried,
    async send(
      form: string,
      path: string,
      fields: Record<string, string> = {},
      action = FORMS[form],
    ): Promise<{ entry: AuditEntry; location: string }> {
      const response = await person.post(path, fields);
      await response.body?.cancel();
      const location = response.headers.get("location") ?? "";
      assert.equal(response.status, 303, `${path}: ${response.status}`);
      const entries = await audit(gateway, `request_id=${response.headers.get("x-request-id")}`);
      const entry = entries.find((each) => each.action === action);
      assert.ok(entry !== undefined, `${path}: ${JSON.stringify(entries)}`);
      assert.deepEqual([entry.actor.name, entry.via], [person.email, "console"]);
      const isOperator = form.startsWith("/console/operator/");
      assert.equal(entry.actor.kind, isOperator ? "operator" : "member");
      tried.add(form);
      return { entry, location };
    },
  };
}

const lastOf = (location: string) => location.split("/").at(-1)!;

Deno.test("every action of a member in the console is in the audit log, with before and after", async () => {
  await using receiver = startReceiver();
  await using gateway = await openConsole({ added: "outbound: { allow_private: true }" });
  const { person } = gateway;
  const { account } = person;
  const { send } = formsOf(gateway, person);
  const created = await send("/console/keys", "/console/keys", { name: "laptop" });
  assert.deepEqual(created.entry.account, account);
  assert.equal(created.entry.before, null);
  assert.equal(created.entry.after!.name, "laptop");
  const key = created.entry.subject!;
  const updated = await send("/console/keys/:id", `/console/keys/${key}`, {
    name: "laptop",
    models: "sim-*",
  });
  assert.deepEqual([updated.entry.before, updated.entry.after], [{ models: null }, {
    models: ["sim-*"],
  }]);
  const revoked = await send("/console/keys/:id/revoke", `/console/keys/${key}/revoke`);
  assert.deepEqual([revoked.entry.subject, revoked.entry.before!.name], [key, "laptop"]);

  const renamed = await send("/account/name", "/account/name", { name: "Anna" });
  assert.deepEqual(renamed.entry.before, { name: "Ann Example" });
  assert.deepEqual(renamed.entry.after, { name: "Anna" });

  const { url } = receiver;
  const made = await send("/console/webhooks", "/console/webhooks", { url });
  const hook = `/console/webhooks/${made.entry.subject}`;
  assert.equal(made.entry.after!.url, url);
  const moved = await send("/console/webhooks/:id", hook, { url: `${url}/two` });
  assert.deepEqual([moved.entry.before, moved.entry.after], [{ url }, { url: `${url}/two` }]);
  for (const action of ["disable", "enable", "redeliver", "delete"] as const) {
    const form = "/console/webhooks/:id/:action";
    if (action === "redeliver") await send(form, `${hook}/test`, {}, "webhook.test");
    if (action === "delete") {
      await send("/console/webhooks/:id/secret/rotate", `${hook}/secret/rotate`);
      const { location } = await send(form, `${hook}/test`, {}, "webhook.test");
      const delivery = "/console/webhooks/deliveries/:id/redeliver";
      await send(delivery, `/console/webhooks/deliveries/${lastOf(location)}/redeliver`);
    }
    await send(form, `${hook}/${action}`, {}, `webhook.${action}`);
  }
  const callback = "/console/webhooks/callback-secret/rotate";
  await send(callback, callback);
  const run = await person.post("/console/models/sim-image/run", {
    prompt: "[[simulate: seconds=60]] a tide",
    size: "512x512",
    n: "1",
  });
  await run.body?.cancel();
  const task = run.headers.get("location")!;
  const cancelled = await send("/console/tasks/:id/cancel", `${task}/cancel`);
  assert.equal(cancelled.entry.subject, lastOf(task));
});

Deno.test("every action of an operator in the console is in the audit log", async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  await person.makeOperator();
  const { send, tried } = formsOf(gateway, person);
  const accounts = "/console/operator/accounts";
  const { entry } = await send(accounts, accounts, { name: "Customer", plan: "free" });
  const account = entry.subject!;
  const at = `${accounts}/${account}`;
  const credit = { kind: "cash", amount: "2.50", reference: "r" };
  const credited = await send(`${accounts}/:id/credits`, `${at}/credits`, credit);
  assert.equal(credited.entry.before!.available_balance, "0.00");
  assert.equal(credited.entry.after!.available_balance, "2.50");
  const planned = await send(`${accounts}/:id/plan`, `${at}/plan`, { plan: "pro" });
  assert.deepEqual([planned.entry.before, planned.entry.after], [{ plan: "free" }, {
    plan: "pro",
  }]);
  const key = await (await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" }))
    .json();
  await send(`${accounts}/:id/keys/:key/revoke`, `${at}/keys/${key.id}/revoke`);
  const tokens = "/console/operator/tokens";
  const token = await send(tokens, tokens, { name: "robot", read: "on" });
  await send(`${tokens}/:id/revoke`, `${tokens}/${token.entry.subject}/revoke`);
  const reload = "/console/operator/configuration/reload";
  await send(reload, reload);
  const settings = { name: "Client", email: "", price_book: "" };
  const changed = await send(`${accounts}/:id/settings`, `${at}/settings`, settings);
  assert.deepEqual(changed.entry.before, { name: "Customer" });
  assert.deepEqual(changed.entry.after, { name: "Client" });
  for (const to of ["suspend", "resume", "close"]) {
    await send(`${accounts}/:id/${to}`, `${at}/${to}`);
  }
  assert.equal(tried.size, 11);
  const page = await person.read(`/console/operator/audit?account=${account}`);
  assert.match(page, /account\.credit/);
  assert.ok(!page.includes(token.entry.subject!), "filtered by account");
});

Deno.test("sessions, a new password and the end of an account are in the audit log, without the address", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  await ann.post("/sign-out", {});
  await ann.post("/sign-in", { email: "ann@example.com", password: PASSWORD });
  const password = "another long sentence that is hard to guess";
  await ann.post("/account/password", { current: PASSWORD, password });
  await ann.post("/account/delete", { confirm: password });
  const actions = (await audit(gateway, "order=asc")).map(({ action, actor }) => [
    action,
    actor.name,
  ]);
  assert.deepEqual(actions.map(([action]) => action), [
    "person.register",
    "session.start",
    "session.end",
    "session.start",
    "password.change",
    "session.start",
    "account.delete",
  ]);
  assert.deepEqual([...new Set(actions.map(([, name]) => name))], [null], "the person is gone");
  const [row] = await gateway.gateway.database.sql`
    select json_agg(e)::text as text from audit_entry e`;
  assert.ok(!row!.text.includes("ann@example.com"));
});

Deno.test("no key, token, password or secret is in the audit log", async () => {
  await using receiver = startReceiver();
  await using gateway = await openConsole({ added: "outbound: { allow_private: true }" });
  const { account } = gateway.person;
  const token = await (await gateway.admin("POST", "/tokens", { name: "t", scopes: ["read"] }))
    .json();
  const key = await (await gateway.admin("POST", `/accounts/${account}/keys`, { name: "k" }))
    .json();
  const reset = await (await gateway.admin("POST", "/people/ann%40example.org/password")).json();
  const other = await gateway.register("bob@example.org");
  await (await other.post("/console/webhooks", { url: receiver.url })).body?.cancel();
  const [{ text }] = await gateway.gateway.database.sql<[{ text: string }]>`
    select json_agg(e)::text as text from audit_entry e`;
  for (const secret of [token.token, key.key, reset.password, "whsec_"]) {
    assert.ok(!text.includes(secret), secret);
  }
});

Deno.test("an action that fails has no entry, a credit that was booked before neither", async () => {
  await using gateway = await openGateway();
  const path = `/accounts/${gateway.account}/credits`;
  const credit = { kind: "cash", amount: "1.00", reference: "once" };
  for (const body of [credit, credit, { ...credit, amount: "2.00" }]) {
    await (await gateway.admin("POST", path, body)).body?.cancel();
  }
  await (await gateway.admin("DELETE", "/keys/key_0")).body?.cancel();
  const entries = await audit(gateway);
  assert.deepEqual(entries.map(({ action }) => action), ["account.credit"]);
});

Deno.test("entries are listed in pages, by account, actor, action, subject and time; the database keeps them as they are", async () => {
  await using gateway = await openGateway();
  const { token, id } = await (await gateway.admin("POST", "/tokens", {
    name: "help desk",
    scopes: ["support"],
  })).json();
  const other = (await gateway.newKey()).account;
  for (const account of [gateway.account, other, gateway.account]) {
    const response = await gateway.fetch(`/admin/v1/accounts/${account}/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "k" }),
    });
    assert.equal(response.status, 201);
    await response.body?.cancel();
  }
  const all = await audit(gateway);
  assert.deepEqual(all.map(({ action }) => action), [
    "key.create",
    "key.create",
    "key.create",
    "admin_token.create",
  ]);
  assert.deepEqual(all[0]!.actor, { kind: "admin_token", id, name: "help desk" });
  assert.deepEqual(await audit(gateway, `limit=2&after=${all[1]!.id}`), all.slice(2));
  assert.deepEqual(await audit(gateway, `order=asc&after=${all[1]!.id}`), [all[0]]);
  assert.deepEqual(await audit(gateway, `account=${other}`), [all[1]]);
  assert.deepEqual(await audit(gateway, `actor=${id}`), all.slice(0, 3));
  assert.deepEqual(await audit(gateway, "actor=root"), [all[3]]);
  assert.deepEqual(await audit(gateway, "action=admin_token.create"), [all[3]]);
  assert.deepEqual(await audit(gateway, `subject=${all[2]!.subject}`), [all[2]]);
  assert.deepEqual(await audit(gateway, "from=2100-01-01T00:00:00Z"), []);
  assert.deepEqual(await audit(gateway, "to=2100-01-01T00:00:00Z"), all);
  const unknown = await gateway.admin("GET", "/audit?action=nothing");
  assert.equal(unknown.status, 400);
  await unknown.body?.cancel();
  const { sql } = gateway.gateway.database;
  for (const change of ["update audit_entry set action = 'x'", "delete from audit_entry"]) {
    await assert.rejects(sql.unsafe(change), /never changed or removed/);
  }
});

Deno.test("the audit log has a partition for each month, and drops those over their time", async () => {
  await using gateway = await openGateway();
  const { sql } = gateway.gateway.database;
  await sql`create table audit_entry_2024_01 partition of audit_entry
    for values from ('2024-01-01T00:00:00Z') to ('2024-02-01T00:00:00Z')`;
  const created = await gateway.admin("POST", `/accounts/${gateway.account}/keys`, { name: "k" });
  assert.equal(created.status, 201);
  await created.body?.cancel();
  const { tables } = await (await gateway.admin("GET", "/storage")).json();
  const { partitions } = tables.find((table: { name: string }) => table.name === "audit_entry");
  assert.deepEqual([partitions.length, partitions[0].next], [4, "drop"]);
  assert.equal(partitions[0].due_at, "2025-03-07T00:00:00.000Z", "400 days after its end");
  const swept = await (await gateway.admin("POST", "/storage/sweep")).json();
  assert.deepEqual(swept.dropped, ["audit_entry_2024_01"]);
  const [row] = await sql`select tableoid::regclass::text as place from audit_entry`;
  assert.match(row!.place, /^audit_entry_\d/);
  const [sweep, ...others] = await audit(gateway);
  assert.deepEqual([sweep!.action, sweep!.after!.dropped], ["storage.sweep", swept.dropped]);
  assert.equal(others.length, 1);
});
