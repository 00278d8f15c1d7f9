import assert from "node:assert/strict";
import { eventsOf, openChatGateway } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import type { TestGateway } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** The id of the only key. */
async function keyIdOf({ gateway }: TestGateway): Promise<string> {
  const [row] = await gateway.database.sql<[{ id: string }]>`select id from api_key`;
  return row.id;
}

Deno.test(
  "the receipt of a chat has its key, user, metadata and endpoint, whole or streamed, alone and in lists",
  STRICT,
  async () => {
    await using gateway = await openChatGateway();
    const key = await keyIdOf(gateway);
    const more = { user: "user-7", metadata: { team: "red", order: "17" } };
    const whole = await gateway.chat("talk", "Hello", more);
    await whole.body?.cancel();
    const streamed = await gateway.chat("talk", "Hello", { ...more, stream: true });
    assert.equal((await eventsOf(streamed)).at(-1), "[DONE]");
    for (const res of [whole, streamed]) {
      const { key: of, user, metadata, endpoint } = await gateway.receipt(res);
      assert.deepEqual([of, user, metadata], [key, more.user, more.metadata]);
      assert.equal(endpoint, "chat");
    }
    const { data } = await (await gateway.get("/v1/usage")).json();
    assert.deepEqual(data[0].metadata, more.metadata);
    const csv = await (await gateway.get("/v1/usage", { accept: "text/csv" })).text();
    assert.ok(csv.includes(`,${key},`) && csv.includes(",user-7,"), csv);
    assert.ok(!csv.includes(gateway.key));
    await gateway.verify();
  },
);

Deno.test(
  "a receipt keeps what OpenAI allows of user and metadata, and null without them",
  STRICT,
  async () => {
    await using gateway = await openChatGateway();
    const bare = await gateway.chat("talk", "Hello");
    await bare.body?.cancel();
    const { user, metadata } = await gateway.receipt(bare);
    assert.deepEqual([user, metadata], [null, null]);

    const pairs = Array.from({ length: 20 }, (_, n) => [`name${n}`, "v"] as const);
    const much = await gateway.chat("talk", "Hello", {
      user: "u".repeat(257),
      metadata: { ["n".repeat(65)]: "v", long: "v".repeat(513), ...Object.fromEntries(pairs) },
    });
    assert.equal(much.status, 200, await much.clone().text());
    await much.body?.cancel();
    const kept = await gateway.receipt(much);
    assert.equal(kept.user, null);
    assert.deepEqual(kept.metadata, Object.fromEntries(pairs.slice(0, 16)));
  },
);

Deno.test(
  "the receipts of an image and of speech have their key and endpoint",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const key = await keyIdOf(gateway);
    const body = { model: "image-model", prompt: "a tide", size: "64x64" };
    const task = await gateway.submit("/v1/images/generations", body);
    assert.equal(task.charge.key, key);
    const ended = await gateway.ended(task.id);
    assert.equal(ended.charge.key, key);
    assert.equal(ended.charge.endpoint, task.charge.endpoint);
    const receipt = await (await gateway.get(`/v1/usage/${task.charge.request_id}`)).json();
    assert.deepEqual([receipt.key, receipt.user, receipt.metadata], [key, null, null]);
    assert.equal(receipt.endpoint, "generation");

    const speech = await gateway.post("/v1/audio/speech", {
      model: "voice",
      input: "Hello",
      voice: "alma",
    });
    assert.equal(speech.status, 200);
    await speech.body?.cancel();
    const spoken = await gateway.get(`/v1/usage/${speech.headers.get("x-request-id")}`);
    const spokenReceipt = await spoken.json();
    assert.deepEqual([spokenReceipt.key, spokenReceipt.endpoint], [key, "speech"]);
  },
);
