import assert from "node:assert/strict";
import { join } from "node:path";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { memoryOf } from "../helpers/memory_of.ts";
import { watchHealth } from "../helpers/watch_health.ts";

const MIB = 1024 * 1024;
const BODIES = 24;
/** Three bodies fit into an account's share, and each is in memory a few times. */
const GROWTH_MAX_MIB = 500;

const chatOf = (content: string) =>
  new TextEncoder().encode(`{"model":"talk","messages":[{"role":"user","content":${content}}]}`);
const filled = (text: string) => text.repeat(Math.floor(20 * MIB / text.length));

/** What a body of 20 MB may be, by what it makes the reader do. */
const SHAPES: Record<string, () => Uint8Array<ArrayBuffer>> = {
  "plain text": () => chatOf(`"${filled("word ")}"`),
  "empty objects": () => chatOf(`[${filled("{},")}{}]`),
  "a million fields": () =>
    chatOf(`{${Array.from({ length: 1_500_000 }, (_, at) => `"a${at}":1`).join()}}`),
  "open brackets": () => new TextEncoder().encode(filled("[")),
};

Deno.test({
  name: "24 bodies of 20 MB at once: memory stays bounded, health is answered within a second",
  ignore: Deno.build.os !== "linux",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn(t) {
    await using store = await freshDatabase();
    const config = join(store.dataDir, "gateway.yaml");
    await Deno.writeTextFile(
      config,
      `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 1000000000 } }
providers: { sim: { adapter: simulator } }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat], limits: { max_output_tokens: 100 }, upstreams: [{ provider: sim, model: chat }] }
prices: { default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] } }
`,
    );
    const env: Record<string, string> = {
      DATA_DIR: store.dataDir,
      GATEWAY_CONFIG: config,
      ADMIN_TOKEN: "0123456789abcdef",
    };
    if (store.databaseUrl !== undefined) env.DATABASE_URL = store.databaseUrl;
    const newKey = async (name: string) => {
      await using database = await store.open();
      const { id } = await createAccount(database.sql, { name });
      return { id, key: (await createKey(database.sql, id, "test")).key };
    };
    const poor = await newKey("poor");
    const rich = await newKey("rich");
    await using gateway = startProcess(env);
    await gateway.says(/listens on/, 60);
    const credited = await fetch(`${gateway.address}/admin/v1/accounts/${rich.id}/credits`, {
      method: "POST",
      headers: { authorization: "Bearer 0123456789abcdef", "content-type": "application/json" },
      // Enough to be let in, too little for a body of 20 MB.
      body: JSON.stringify({ kind: "cash", amount: "1", reference: "c" }),
    });
    assert.equal(credited.status, 201, await credited.text());
    // Each is a connection of its own, as from many machines.
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const post = async (key: string, body: Uint8Array<ArrayBuffer>) => {
      try {
        const res = await fetch(`${gateway.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body,
          client,
        });
        await res.body?.cancel();
        return res.status;
      } catch {
        // Answered before the body was sent, and hung up on: some clients miss the answer.
        return 0;
      }
    };
    await post(rich.key, chatOf(`"warm"`));

    const storm = async (key: string, body: Uint8Array<ArrayBuffer>) => {
      const before = memoryOf(gateway.pid);
      let peak = before;
      const watching = setInterval(() => peak = Math.max(peak, memoryOf(gateway.pid)), 10);
      await using health = watchHealth(gateway);
      const statuses = await Promise.all(Array.from({ length: BODIES }, () => post(key, body)));
      const slowest = await health.slowest();
      clearInterval(watching);
      const counts = Object.entries(Object.groupBy(statuses, String))
        .map(([status, all]) => `${all!.length} × ${status}`).join(", ");
      console.log(
        `grew by ${Math.round(peak - before)} MiB, blocked for ${
          Math.round(slowest)
        } ms, ${counts}`,
      );
      assert.ok(peak - before < GROWTH_MAX_MIB, `grew by ${Math.round(peak - before)} MiB`);
      await health.assertLively();
      return statuses;
    };
    await t.step("of an account without money: refused before they are read", async () => {
      const statuses = await storm(poor.key, SHAPES["plain text"]!());
      assert.ok(statuses.every((status) => [0, 402].includes(status)), statuses.join());
    });
    for (const [shape, make] of Object.entries(SHAPES)) {
      await t.step(`of an account with some: ${shape}`, async () => {
        const statuses = await storm(rich.key, make());
        const expected = shape === "plain text" ? [0, 402, 429] : [0, 400, 413, 429];
        assert.ok(statuses.every((status) => expected.includes(status)), statuses.join());
        assert.ok(statuses.some((status) => status !== 0 && status !== 429), statuses.join());
      });
    }
    const last = await post(rich.key, chatOf(`"still here"`));
    assert.equal(last, 200, "every reservation was given back");
  },
});
