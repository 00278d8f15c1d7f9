import assert from "node:assert/strict";
import { type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";
import { heldConfig, startHeldUpstream } from "../helpers/held_upstream.ts";

/** Sooner than the next renewal of a lease. */
const NEWS_MS = 2_000;

Deno.test("a background response that is cancelled on one node ends its call on the other", async () => {
  await using upstream = startHeldUpstream();
  const config = heldConfig(upstream.baseUrl);
  await using first = await openChatGateway({ config });
  await using second = await openChatGateway({ config, beside: first });
  const nodes = [first, second];
  await until(
    "they know each other",
    () => nodes.every(({ gateway }) => gateway.cluster.peers.length === 1),
  );
  const body = { model: "talk", input: "Hello", background: true };
  for (const node of nodes) {
    const asked: Json = await (await post({ ...node, key: first.key }, "/responses", body)).json();
    await until("the upstream is called", () => upstream.held() === 1, 30);
    const other = { ...(node === first ? second : first), key: first.key };
    const began = performance.now();
    const cancelled = await post(other, `/responses/${asked.id}/cancel`, undefined);
    assert.equal((await cancelled.json()).status, "cancelled");
    await until("the call has ended", () => upstream.held() === 0);
    assert.ok(performance.now() - began < NEWS_MS);
  }
  assert.deepEqual(await first.balance(), { available: "100.00", frozen: "0.00" });
  await first.verify();
});
