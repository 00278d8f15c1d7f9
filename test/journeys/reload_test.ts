import assert from "node:assert/strict";
import { ADMIN_TOKEN, errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 20) {
    if (await holds()) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  assert.fail(`never happened: ${what}`);
}

async function edit(gateway: TestGateway, from: string, to: string): Promise<void> {
  const text = await Deno.readTextFile(gateway.configFile);
  assert.ok(text.includes(from));
  await Deno.writeTextFile(gateway.configFile, text.replaceAll(from, to));
}

const nameOf = async (gateway: TestGateway) =>
  (await (await gateway.get("/v1/models/tiny-chat")).json()).name;

Deno.test("saving the file is enough: the next request sees the new configuration", async () => {
  await using gateway = await openGateway();
  assert.equal(await nameOf(gateway), "Tiny Chat");
  await edit(gateway, "name: Tiny Chat", "name: Renamed Chat");
  await until("the new name is served", async () => await nameOf(gateway) === "Renamed Chat");
  const { last_reload } = await (await gateway.admin("GET", "/config")).json();
  assert.equal(last_reload.cause, "file");
  assert.equal(last_reload.ok, true);
  assert.deepEqual(last_reload.changes, [
    { kind: "changed", path: "models.tiny-chat.name", from: "Tiny Chat", to: "Renamed Chat" },
  ]);
});

Deno.test("a route that is added or removed by a reload is there or gone", async () => {
  await using gateway = await openGateway();
  const text = await Deno.readTextFile(gateway.configFile);
  const routes = [
    "routes:",
    "  - { path: /catalogue, operation: list_models }",
    "  - { path: /chat/completions, operation: chat, stage: planned }",
    "  - { path: /images/generations, operation: generation, type: image, stage: planned }",
    "  - { path: /videos/generations, operation: generation, type: video, stage: planned }",
  ];
  await Deno.writeTextFile(gateway.configFile, `${text}${routes.join("\n")}\n`);
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 200);
  assert.equal(await statusOf(gateway.get("/v1/catalogue")), 200);
  assert.equal(await statusOf(gateway.get("/v1/models")), 404);
  await Deno.writeTextFile(gateway.configFile, text);
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 200);
  assert.equal(await statusOf(gateway.get("/v1/catalogue")), 404);
  assert.equal(await statusOf(gateway.get("/v1/models")), 200);
});

Deno.test("a bad file changes nothing, and the log, /readyz and /admin/v1/config say so", async () => {
  await using gateway = await openGateway();
  const version = gateway.gateway.configStore.current.version;
  await edit(gateway, "type: chat", "type: chatt");
  const refused = await gateway.admin("POST", "/config/reload");
  assert.equal(refused.status, 400);
  const body = await refused.clone().json();
  assert.equal((await errorOf(refused)).code, "invalid_value");
  assert.deepEqual(body.error.detail.issues.map(({ path }: { path: string }) => path), [
    "models[0].type",
    "models[4].type",
    "models[5].type",
  ]);
  assert.match(body.error.detail.issues[0].suggestion, /Did you mean "chat"/);

  assert.equal(await nameOf(gateway), "Tiny Chat");
  const config = await (await gateway.admin("GET", "/config")).json();
  assert.equal(config.version, version);
  assert.equal(config.last_reload.ok, false);
  assert.equal(config.last_reload.issues.length, 3);
  const ready = await gateway.fetch("/readyz");
  assert.equal(ready.status, 200, "the old configuration is good");
  const { checks } = await ready.json();
  assert.deepEqual({ ...checks.config.last_reload, at: "" }, { at: "", ok: false, errors: 3 });
  assert.match(gateway.logged(), /configuration reload failed/);

  await edit(gateway, "type: chatt", "type: chat");
  await until("the mended file is taken", async () => {
    const { last_reload } = await (await gateway.admin("GET", "/config")).json();
    return last_reload.ok;
  });
});

Deno.test("a file that disappears changes nothing either", async () => {
  await using gateway = await openGateway();
  await Deno.remove(gateway.configFile);
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 400);
  assert.equal(await nameOf(gateway), "Tiny Chat");
});

Deno.test("a request under way keeps the configuration it started with", async () => {
  await using gateway = await openGateway();
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const slow = gateway.fetch("/admin/v1/accounts", {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: body.readable,
  });
  await writer.write(new TextEncoder().encode('{"name":"slow",'));
  // Until the gateway has the request's head, it cannot have taken a plan for it.
  await until("the request is under way", async () => {
    const res = await gateway.fetch("/metrics", {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    return /tollgate_requests_in_flight 2/.test(await res.text());
  });
  await edit(gateway, "slow: { limits", "slower: { limits");
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 200);
  const late = await gateway.admin("POST", "/accounts", { name: "late", plan: "slow" });
  assert.equal(late.status, 400, "the plan is gone for new requests");
  await late.body?.cancel();
  await writer.write(new TextEncoder().encode('"plan":"slow"}'));
  await writer.close();
  const res = await slow;
  assert.equal(res.status, 201, await res.text());
});

Deno.test("a compiled configuration cannot be changed", async () => {
  await using gateway = await openGateway();
  const { configStore } = gateway.gateway;
  const held = configStore.current;
  await edit(gateway, "name: Tiny Chat", "name: Renamed Chat");
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 200);
  assert.notEqual(configStore.current.version, held.version);
  assert.equal(JSON.parse(held.models.get("tiny-chat")!.detailJson).name, "Tiny Chat");
  assert.throws(
    () => (held.models as Map<string, unknown>).delete("tiny-chat"),
    /Cannot change a compiled configuration/,
  );
});
