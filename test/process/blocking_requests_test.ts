import assert from "node:assert/strict";
import { join } from "node:path";
import { form, FORM_TYPE } from "../helpers/form.ts";
import { type FreshDatabase, freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { healthMs } from "../helpers/watch_health.ts";
import { sleep } from "../../src/lib/timers.ts";

/**
 * Requests that once blocked a node for all clients. The gateway is a process of its own: where one of them
 * blocks it again, the test fails instead of waiting with it.
 */
const TOKEN = "0123456789abcdef";
const ROOT = new URL("../../", import.meta.url).pathname;

async function start(
  store: FreshDatabase,
  config = "test/helpers/config.yaml",
): Promise<GatewayProcess> {
  const gateway = startProcess({
    DATA_DIR: store.dataDir,
    GATEWAY_CONFIG: join(ROOT, config),
    ADMIN_TOKEN: TOKEN,
    ...(store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl }),
  });
  for (let tries = 0;; tries++) {
    const res = await fetch(`${gateway.address}/readyz`).catch(() => null);
    await res?.body?.cancel();
    if (res?.status === 200) return gateway;
    assert.ok(tries < 600, `never ready:\n${gateway.stdout()}\n${gateway.stderr()}`);
    await sleep(50);
  }
}

async function keyOf(address: string): Promise<string> {
  const admin = async (path: string, body: unknown) => {
    const res = await fetch(`${address}/admin/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await res.json();
  };
  const { id } = await admin("/accounts", { name: "attacker" });
  await admin(`/accounts/${id}/credits`, { kind: "cash", amount: "10", reference: "r" });
  return (await admin(`/accounts/${id}/keys`, { name: "k" })).key;
}

/** Sends the request; nothing may keep `/healthz` for a second meanwhile. Returns the status. */
async function statusWhileHealthy(
  { address, pid }: GatewayProcess,
  path: string,
  init: RequestInit,
) {
  const stop = new AbortController();
  const answered = fetch(address + path, { ...init, redirect: "manual", signal: stop.signal });
  answered.catch(() => {});
  // The request has arrived and is being worked on.
  await sleep(100);
  try {
    for (let round = 0; round < 3; round++) {
      assert.ok(await healthMs(address, pid) < 1_000, `${path} blocks the main thread`);
    }
    const res = await Promise.race([
      answered,
      new Promise<never>((_, reject) =>
        AbortSignal.timeout(60_000).onabort = () => reject(new Error(`${path} never answered`))
      ),
    ]);
    await res.body?.cancel();
    return res.status;
  } finally {
    stop.abort();
  }
}

Deno.test("a form's part with sixty backslashes behind an open quote is refused, and /healthz answers", async () => {
  await using store = await freshDatabase();
  await using gateway = await start(store);
  const body = form([{
    head: `Content-Disposition: form-data; name="${"\\".repeat(60)}`,
    content: "x",
  }]);
  const status = await statusWhileHealthy(gateway, "/v1/files", {
    method: "POST",
    headers: {
      authorization: `Bearer ${await keyOf(gateway.address)}`,
      "content-type": FORM_TYPE,
    },
    body,
  });
  assert.equal(status, 400);
});

Deno.test("a return address of 128 KiB of question marks is dropped, and /healthz answers", async () => {
  await using store = await freshDatabase();
  await using gateway = await start(store);
  const returnTo = `/${"?".repeat(128 * 1024)}\n`;
  // As it is: encoded, it would be too large for a form.
  const body = `email=ann@example.com&password=a+guess&return_to=/${"?".repeat(128 * 1024)}%0a`;
  assert.equal(new URLSearchParams(body).get("return_to"), returnTo);
  const status = await statusWhileHealthy(gateway, "/sign-in", {
    method: "POST",
    headers: {
      origin: gateway.address,
      "content-type": "application/x-www-form-urlencoded",
    },
    body,
  });
  assert.equal(status, 401);
});

Deno.test("a schema of 20,000 values, asked for 4,000 times, is refused, and /healthz answers", async () => {
  await using store = await freshDatabase();
  await using gateway = await start(store, "gateway.yaml");
  const values = Array.from({ length: 20_000 }, (_, index) => index);
  const schema = {
    type: "object",
    properties: { list: { type: "array", minItems: 4_000, items: { enum: values } } },
    required: ["list"],
  };
  const status = await statusWhileHealthy(gateway, "/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${await keyOf(gateway.address)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      model: "sim-chat",
      messages: [{ role: "user", content: "Hello" }],
      response_format: { type: "json_schema", json_schema: { name: "list", schema } },
    }),
  });
  assert.equal(status, 400);
});
