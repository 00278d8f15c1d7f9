import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startLoneGateway } from "../helpers/lone_gateway.ts";
import { watchHealth } from "../helpers/watch_health.ts";

const CONFIG = new URL("../helpers/chat_config.yaml", import.meta.url);

/** Texts that are slow to count, or that a tokenizer refuses, and the tokens they have. */
const PROMPTS = [
  ["one letter", "a".repeat(160_000), 20_000],
  ["one ideograph", "中".repeat(60_000), 60_000],
  ["a special token's name", "<|endoftext|> ".repeat(1000), 7000],
] as const;

Deno.test("a client that leaves a stream is charged for any prompt while /healthz answers at once", async () => {
  await using store = await freshDatabase();
  await using gateway = await startLoneGateway(store, {
    // The prompt is what this client pays for.
    config: (await Deno.readTextFile(CONFIG)).replace(
      'model: slow, billing_type: token, input_price: "0"',
      'model: slow, billing_type: token, input_price: "0.1"',
    ),
  });
  for (const [name, prompt, tokens] of PROMPTS) {
    const { key } = await gateway.account("1000");
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    await using health = watchHealth(gateway.process);
    const leaving = new AbortController();
    const res = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers,
      signal: leaving.signal,
      body: JSON.stringify({
        model: "slow",
        stream: true,
        messages: [{ role: "user", content: `${prompt} [[simulate: tokens=900]]` }],
      }),
    });
    assert.equal(res.status, 200);
    await res.body!.getReader().read();
    leaving.abort();
    let receipt: Json;
    await until(`${name} is settled`, async () => {
      const url = `${gateway.address}/v1/usage/${res.headers.get("x-request-id")}`;
      const found = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
      receipt = await found.json();
      return found.ok && receipt.status === "settled";
    }, 15);
    const { input_tokens, estimated } = receipt.usage;
    assert.equal(estimated, true, name);
    assert.ok(Math.abs(input_tokens / tokens - 1) < 0.15, `${name}: ${input_tokens}`);
    assert.ok(Number(receipt.settled) >= input_tokens / 10_000, name);
    await health.assertLively();
  }
});
