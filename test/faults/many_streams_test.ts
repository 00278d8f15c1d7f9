import assert from "node:assert/strict";
import { join } from "node:path";
import { serveSimulator } from "../../providers/simulator/serve.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { eventsOf } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { memoryOf } from "../helpers/memory_of.ts";

const STREAMS = 1_000;
/** Long enough that all are open at once; `STREAM_SECONDS=60` holds them for a minute. */
const SECONDS = Number(Deno.env.get("STREAM_SECONDS") ?? "2");
const TOKEN = "0123456789abcdef";
/** What the collector has not come to yet, and what the allocator keeps. */
const SLACK_MIB = 60;

Deno.test({
  name: "1,000 streams at once, one reader slow: all end well, and memory returns to where it was",
  ignore: Deno.build.os !== "linux",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using upstream = await serveSimulator();
    await using store = await freshDatabase();
    const config = join(store.dataDir, "gateway.yaml");
    await Deno.writeTextFile(
      config,
      `
limits: { default: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 } }
providers: { sim: { adapter: openai_compatible, base_url: "${upstream.baseUrl}" } }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat, streaming], limits: { max_output_tokens: 100 }, upstreams: [{ provider: sim, model: chat }] }
prices: { default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] } }
`,
    );
    const env: Record<string, string> = {
      DATA_DIR: store.dataDir,
      GATEWAY_CONFIG: config,
      ADMIN_TOKEN: TOKEN,
    };
    if (store.databaseUrl !== undefined) env.DATABASE_URL = store.databaseUrl;
    let account: string;
    let key: string;
    {
      await using database = await store.open();
      account = (await createAccount(database.sql, { name: "many" })).id;
      key = (await createKey(database.sql, account, "test")).key;
    }
    await using gateway = startProcess(env);
    await gateway.says(/listens on/, 60);
    const admin = async (method: string, path: string, body?: unknown) => {
      const res = await fetch(`${gateway.address}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.ok(res.ok, await res.clone().text());
      return await res.json();
    };
    await admin("POST", `/accounts/${account}/credits`, {
      kind: "cash",
      amount: "100000",
      reference: "c",
    });

    const one = async (seconds: number, isSlow: boolean) => {
      const pace = Math.round(seconds * 50);
      const res = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "talk",
          stream: true,
          messages: [{ role: "user", content: `Hello [[simulate: pace=${pace}ms tokens=20]]` }],
        }),
      });
      assert.equal(res.status, 200);
      if (isSlow) await new Promise((resume) => setTimeout(resume, seconds * 500));
      const events = await eventsOf(res);
      assert.equal(events.at(-1), "[DONE]");
    };
    const round = (seconds: number) =>
      Promise.all(Array.from({ length: STREAMS }, (_, at) => one(seconds, at === 0)));

    // Pools of every kind are filled once and stay: what streams cost is what comes on top.
    for (let i = 0; i < 3; i++) await round(SECONDS);
    const before = memoryOf(gateway.pid);
    let highest = before;
    const watching = setInterval(() => highest = Math.max(highest, memoryOf(gateway.pid)), 100);
    try {
      await round(SECONDS);
    } finally {
      clearInterval(watching);
    }
    let after = memoryOf(gateway.pid);
    for (let waited = 0; after > before + SLACK_MIB && waited < 30_000; waited += 250) {
      await new Promise((resume) => setTimeout(resume, 250));
      after = memoryOf(gateway.pid);
    }
    const sizes = [before, highest, after].map((size) => size.toFixed(0));
    console.log(`resident: ${sizes[0]} MiB before, ${sizes[1]} at the most, ${sizes[2]} after`);
    assert.ok(after <= before + SLACK_MIB, sizes.join(", "));

    const { data } = await admin("GET", "/providers");
    assert.equal(data[0].upstreams[0].in_flight, 0);
    const { ok, checks } = await admin("GET", "/ledger/verify");
    assert.ok(ok, JSON.stringify(checks));
    const balance = await (await fetch(`${gateway.address}/v1/balance`, {
      headers: { authorization: `Bearer ${key}` },
    })).json();
    assert.equal(balance.frozen_balance, "0.00", JSON.stringify(balance));
  },
});
