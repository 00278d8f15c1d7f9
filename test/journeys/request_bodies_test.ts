import assert from "node:assert/strict";
import { type ChatGateway, eventsOf, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
const SECRETS_KEY = "a-key-of-the-operator-for-secrets-0123";
const sizeOf = (text: string) => new TextEncoder().encode(text).length;
const idOf = (response: Response) => response.headers.get("x-request-id")!;

interface Options {
  bodies?: "off" | "errors" | "all";
  bytesMax?: number;
  memory?: number;
}

function open({ bodies = "all", bytesMax = 16384, memory = 1_000_000 }: Options = {}) {
  return openChatGateway({
    config: `${CONFIG}\nlogs: { bodies: ${bodies}, body_bytes_max: ${bytesMax} }\n`,
    settings: { secretsKeys: [SECRETS_KEY] },
    timing: { requestLog: { bodies: { bytesMax: memory } } },
  });
}

async function bodiesOf(gateway: ChatGateway, id: string): Promise<Json> {
  const own = await (await gateway.get(`/v1/requests/${id}`)).json();
  const operators = await (await gateway.admin("GET", `/requests/${id}`)).json();
  assert.deepEqual(own.bodies, operators.bodies);
  return own.bodies;
}

async function countBodies({ gateway }: ChatGateway): Promise<number> {
  const [row] = await gateway.database.sql<[{ n: number }]>`
    select count(*)::int as n from request_body`;
  return row.n;
}

Deno.test("200 with the bodies of a chat, as sent and as received; a list has none", async () => {
  await using gateway = await open();
  const res = await gateway.chat("talk", "a secret of mine");
  const answer = await res.text();
  assert.equal(Number(res.headers.get("content-length")), sizeOf(answer));
  const { request, response } = await bodiesOf(gateway, idOf(res));
  const { messages } = JSON.parse(request.text);
  assert.deepEqual(messages, [{ role: "user", content: "a secret of mine" }]);
  assert.deepEqual([request.bytes, request.truncated], [request.text.length, false]);
  assert.deepEqual(response, { text: answer, bytes: sizeOf(answer), truncated: false });
  const list = await (await gateway.get("/v1/requests")).text();
  assert.ok(!list.includes("bodies") && !list.includes("a secret of mine"));
  assert.ok(!gateway.logged().includes("a secret of mine"));
});

Deno.test("bodies of a stream: the text as it was sent", async () => {
  await using gateway = await open();
  const res = await gateway.chat("talk", "Hello [[simulate: tokens=9]]", { stream: true });
  const text = await res.text();
  assert.match(text, /data: \[DONE\]\n\n$/);
  const { response } = await bodiesOf(gateway, idOf(res));
  assert.deepEqual(response, { text, bytes: sizeOf(text), truncated: false });
});

Deno.test("bodies are sealed: the database has no word of them, and a new key reads them beside the earlier one", async () => {
  await using store = await freshDatabase();
  const config = `${CONFIG}\nlogs: { bodies: all }\n`;
  let id: string;
  let account: string;
  {
    const settings = { secretsKeys: [SECRETS_KEY] };
    await using gateway = await openChatGateway({ config, settings, store });
    const res = await gateway.chat("talk", "a secret of mine");
    await res.body?.cancel();
    [id, account] = [idOf(res), gateway.account];
    assert.notEqual((await bodiesOf(gateway, id)).request.text, null);
    const [row] = await gateway.gateway.database.sql<[{ request: Uint8Array }]>`
      select request from request_body`;
    assert.ok(!new TextDecoder().decode(row.request).includes("secret"));
  }
  const readLater = async (secretsKeys: string[]) => {
    await using later = await openGateway({ config, settings: { secretsKeys }, store });
    const { bodies, account: of } = await (await later.admin("GET", `/requests/${id}`)).json();
    assert.equal(of, account);
    assert.ok(bodies.request.bytes > 0);
    const rotated = await later.admin("POST", "/secrets/rotate");
    assert.equal((await rotated.json()).unreadable, 0);
    return [bodies.request.text, bodies.response.text];
  };
  const newKey = "another-key".repeat(4);
  assert.ok((await readLater([newKey, SECRETS_KEY])).every((text) => text.length > 0));
  assert.deepEqual(await readLater([newKey]), [null, null], "the earlier key is gone");
});

Deno.test("with errors, bodies of failed requests only: refused, not JSON, broken in a stream", async () => {
  await using gateway = await open({ bodies: "errors" });
  const fine = await gateway.chat("talk", "Hello");
  const streamed = await gateway.chat("talk", "Hello", { stream: true });
  for (const res of [fine, streamed]) {
    await res.text();
    assert.equal(await bodiesOf(gateway, idOf(res)), null);
  }
  const absent = await gateway.chat("absent", "Hello");
  const problem = await absent.text();
  const refused = await bodiesOf(gateway, idOf(absent));
  assert.equal(JSON.parse(refused.request.text).model, "absent");
  assert.equal(refused.response.text, problem);
  const broken = await gateway.chat("talk", "Hello", {}, { body: "{ not JSON" });
  await broken.body?.cancel();
  assert.equal((await bodiesOf(gateway, idOf(broken))).request.text, "{ not JSON");
  const cut = await gateway.chat("talk", "Hello [[simulate: cut=4]]", { stream: true });
  assert.equal((await eventsOf(cut)).at(-1).error.code, "upstream_failed");
  assert.match((await bodiesOf(gateway, idOf(cut))).response.text, /upstream_failed/);
  assert.equal(await countBodies(gateway), 3);
});

Deno.test("a stream whose client disconnects has what was sent", async () => {
  await using gateway = await open();
  const leaving = new AbortController();
  const res = await gateway.chat("slow", "Tell me a long story", { stream: true }, {
    signal: leaving.signal,
  });
  const reader = res.body!.getReader();
  for (let n = 0; n < 3; n++) await reader.read();
  leaving.abort();
  let bodies: Json = null;
  for (let n = 0; n < 100 && bodies === null; n++) {
    await new Promise((resume) => setTimeout(resume, 50));
    const { bodies: found = null } = await (await gateway.get(`/v1/requests/${idOf(res)}`)).json();
    bodies = found;
  }
  assert.match(bodies.response.text, /^data: /);
  assert.ok(!bodies.response.text.includes("[DONE]"));
});

Deno.test("nothing is stored by default, and never for a key with log_bodies: false", async () => {
  await using off = await openChatGateway({ settings: { secretsKeys: [SECRETS_KEY] } });
  const plain = await off.chat("talk", "Hello");
  await plain.body?.cancel();
  assert.equal(await bodiesOf(off, idOf(plain)), null);

  await using gateway = await open();
  const before = await gateway.chat("talk", "Hello");
  await before.body?.cancel();
  assert.notEqual(await bodiesOf(gateway, idOf(before)), null);
  const { id } = await (await gateway.get("/v1/key")).json();
  const patched = await gateway.admin("PATCH", `/keys/${id}`, { log_bodies: false });
  assert.equal(patched.status, 200, await patched.text());
  for (const model of ["talk", "absent"]) {
    const res = await gateway.chat(model, "Hello");
    await res.body?.cancel();
    assert.equal(await bodiesOf(gateway, idOf(res)), null);
  }
  assert.equal(await countBodies(gateway), 1);
});

Deno.test("only bodies of requests to models are stored: others have secrets", async () => {
  await using gateway = await open();
  const res = await gateway.fetch("/v1/webhook_endpoints", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: "https://example.com/hook" }),
  });
  assert.match((await res.json()).secret, /^whsec_/);
  assert.equal(await bodiesOf(gateway, idOf(res)), null);
});

Deno.test("a large body is stored up to the limit, without half a character", async () => {
  await using gateway = await open({ bytesMax: 1024 });
  const res = await gateway.chat("talk", "é".repeat(1500));
  await res.body?.cancel();
  const { request } = await bodiesOf(gateway, idOf(res));
  assert.equal(request.truncated, true);
  assert.ok(request.bytes > 3000);
  const size = sizeOf(request.text);
  assert.ok(size > 1020 && size <= 1024 && !request.text.includes("\ufffd"), `${size}`);
});

Deno.test("without memory for bodies requests are served, and their bodies lost and counted", async () => {
  await using gateway = await open({ memory: 2048 });
  const ids = await Promise.all(Array.from({ length: 8 }, async () => {
    const res = await gateway.chat("slow", "Hello [[simulate: tokens=5]]", { stream: true });
    assert.equal((await eventsOf(res)).at(-1), "[DONE]");
    return idOf(res);
  }));
  const rows = await Promise.all(ids.map((id) => gateway.get(`/v1/requests/${id}`)));
  assert.deepEqual(rows.map(({ status }) => status), ids.map(() => 200));
  for (const row of rows) await row.body?.cancel();
  const metrics = await gateway.fetch("/metrics", {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const lost = /^tollgate_request_bodies_lost_total{reason="full"} (\d+)$/m
    .exec(await metrics.text())?.[1];
  assert.ok(Number(lost) > 0, lost);
  // What was borrowed is free again.
  const later = await gateway.chat("absent", "Hi");
  await later.body?.cancel();
  assert.notEqual((await bodiesOf(gateway, idOf(later))).request, null);
});

Deno.test("logs.bodies without SECRETS_KEY is refused, at start and by a reload", async () => {
  await assert.rejects(
    openChatGateway({ config: `${CONFIG}\nlogs: { bodies: errors }\n` }),
    { name: "ConfigError" },
  );
  await using gateway = await openChatGateway();
  await Deno.writeTextFile(gateway.configFile, `${CONFIG}\nlogs: { bodies: all }\n`);
  const res = await gateway.admin("POST", "/config/reload");
  assert.equal(res.status, 400);
  assert.match(await res.text(), /SECRETS_KEY/);
});

Deno.test("days of bodies are dropped with those of the log", async () => {
  await using gateway = await openChatGateway({
    settings: { secretsKeys: [SECRETS_KEY] },
    timing: { retention: { partitionsMs: 50 } },
  });
  const { sql } = gateway.gateway.database;
  await sql`create table request_body_2026_01_01 partition of request_body
              for values from ('2026-01-01 00:00:00+00') to ('2026-01-02 00:00:00+00')`;
  for (let n = 0; n < 100; n++) {
    const [{ gone }] = await sql<[{ gone: boolean }]>`
      select to_regclass('request_body_2026_01_01') is null as gone`;
    if (gone) return;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  assert.fail("the old day is still there");
});
