import assert from "node:assert/strict";
import { join } from "node:path";
import { startProcess } from "../helpers/gateway_process.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { freePort } from "../../scripts/free_port.ts";

const TOKEN = "0123456789abcdef";

Deno.test("a gateway killed in mid-stream leaves a hold that the next one settles by its checkpoint", async () => {
  await using store = await freshDatabase();
  const config = join(store.dataDir, "chat.yaml");
  await Deno.copyFile(new URL("../helpers/chat_config.yaml", import.meta.url), config);
  const env: Record<string, string> = {
    DATA_DIR: store.dataDir,
    GATEWAY_CONFIG: config,
    ADMIN_TOKEN: TOKEN,
  };
  if (store.databaseUrl !== undefined) env.DATABASE_URL = store.databaseUrl;
  const admin = async (address: string, method: string, path: string, body?: unknown) => {
    const res = await fetch(`${address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(res.ok, await res.clone().text());
    return await res.json();
  };

  let requestId: string;
  let key: string;
  {
    await using first = startProcess({ ...env, PORT: String(freePort()) });
    await first.says(/listens on/);
    const account = await admin(first.address, "POST", "/accounts", { name: "a" });
    key = (await admin(first.address, "POST", `/accounts/${account.id}/keys`, { name: "k" })).key;
    await admin(first.address, "POST", `/accounts/${account.id}/credits`, {
      kind: "cash",
      amount: "100",
      reference: "c",
    });
    const res = await fetch(`${first.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "slow",
        stream: true,
        messages: [{ role: "user", content: "A story [[simulate: tokens=900]]" }],
      }),
    });
    requestId = res.headers.get("x-request-id")!;
    const reader = res.body!.getReader();
    const end = performance.now() + 5_000;
    // Longer than the interval of notes.
    while (performance.now() < end) await reader.read();
    first.signal("SIGKILL");
    await first.ended;
    await reader.cancel().catch(() => undefined);
  }

  // The hold's time is over sooner than a test would wait for it.
  {
    await using database = await store.open();
    const [hold] = await database.sql<[{ soon: boolean }]>`
      select expires_at <= now() + interval '1 minute' as soon from hold where id = ${requestId}`;
    assert.equal(hold.soon, true);
    await database.sql`update hold set expires_at = now() where id = ${requestId}`;
  }
  await using second = startProcess({ ...env, PORT: String(freePort()) });
  await second.says(/listens on/);
  for (let waited = 0;; waited += 200) {
    const receipt = await (await fetch(`${second.address}/v1/usage/${requestId}`, {
      headers: { authorization: `Bearer ${key}` },
    })).json();
    if (receipt.status === "settled") {
      assert.ok(receipt.usage.output_tokens > 20, JSON.stringify(receipt.usage));
      assert.equal(receipt.usage.estimated, true);
      assert.ok(Number(receipt.settled) > 0);
      const { status, error_code, endpoint, model, charge } =
        await (await fetch(`${second.address}/v1/requests/${requestId}`, {
          headers: { authorization: `Bearer ${key}` },
        })).json();
      assert.deepEqual([status, error_code, endpoint, model, charge], [
        ...[200, "gateway_stopped", "chat", "slow", receipt.settled],
      ]);
      break;
    }
    assert.equal(receipt.status, "open");
    assert.ok(waited < 20_000, "the sweeper never came");
    await new Promise((resume) => setTimeout(resume, 200));
  }
  const { ok, checks } = await admin(second.address, "GET", "/ledger/verify");
  assert.ok(ok, JSON.stringify(checks));
});
