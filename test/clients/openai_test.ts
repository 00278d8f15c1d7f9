import assert from "node:assert/strict";
import OpenAI from "openai";
import { openGateway } from "../helpers/open_gateway.ts";

Deno.test("the official openai package lists and retrieves models", async () => {
  await using gateway = await openGateway();
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1` });
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  assert.deepEqual(ids, ["tiny-chat", "tiny-image", "tiny-video", "old-image"]);
  const model = await client.models.retrieve("tiny-chat");
  assert.equal(model.id, "tiny-chat");
  assert.equal(model.object, "model");
});

Deno.test("the official openai package throws its own typed errors for ours", async () => {
  await using gateway = await openGateway();
  const baseURL = `${gateway.address}/v1`;
  const stranger = new OpenAI({ apiKey: "sk-wrong", baseURL, maxRetries: 0 });
  await assert.rejects(stranger.models.retrieve("tiny-chat"), (error: unknown) => {
    assert.ok(error instanceof OpenAI.AuthenticationError);
    assert.equal(error.status, 401);
    assert.equal(error.code, "invalid_api_key");
    assert.equal(error.type, "authentication_error");
    assert.match(error.requestID ?? "", /^req_/);
    return true;
  });
  const client = new OpenAI({ apiKey: gateway.key, baseURL, maxRetries: 0 });
  await assert.rejects(client.models.retrieve("nothing"), (error: unknown) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, "model_unavailable");
    assert.equal(error.param, "model");
    assert.match(error.requestID ?? "", /^req_/);
    return true;
  });
  const { key } = await gateway.newKey({ name: "slow", plan: "slow" });
  const slow = new OpenAI({ apiKey: key, baseURL, maxRetries: 0 });
  await assert.rejects(
    (async () => {
      for (let i = 0; i < 4; i++) await slow.models.retrieve("tiny-chat");
    })(),
    (error: unknown) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.equal(error.code, "rate_limit_exceeded");
      assert.match(error.requestID ?? "", /^req_/);
      assert.ok(Number(error.headers?.get("retry-after")) >= 1);
      return true;
    },
  );
});
