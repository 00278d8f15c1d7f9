import assert from "node:assert/strict";
import OpenAI from "openai";
import { type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { wav } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const options = { sanitizeOps: true, sanitizeResources: true };

/** An upstream that keeps what it was asked. */
function serveUpstream(): AsyncDisposable & { address: string; asked: Json[] } {
  const asked: Json[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    asked.push(await request.json());
    return Response.json({
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Yes." },
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/v1`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const configFor = (address: string) => `
plans: { free: {} }
providers: { own: { adapter: openai_compatible, base_url: "${address}" } }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: own, model: m }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;

Deno.test("a chat with null in every optional field is one without them", options, async () => {
  await using upstream = serveUpstream();
  await using gateway = await openChatGateway({ config: configFor(upstream.address) });
  const document = await (await gateway.fetch("/openapi.json")).json();
  const { properties, required } = document.components.schemas.ChatRequest;
  const names = Object.keys(properties).filter((name) => !required.includes(name));
  assert.ok(names.length > 30);
  for (const name of names) {
    const { type, enum: values } = properties[name];
    assert.ok((type ?? values).includes(type ? "null" : null), `${name} is said to take no null`);
  }
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.address}/v1`,
    maxRetries: 0,
  });
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const completion = await client.chat.completions.create(
    {
      ...nulls,
      model: "talk",
      stream_options: { include_usage: null },
      messages: [
        { role: "user", content: "Is it?", name: null },
        // As the SDK gives an answer of the model, and people send it back.
        {
          role: "assistant",
          content: null,
          refusal: null,
          audio: null,
          function_call: null,
          tool_calls: [call],
        },
        { role: "tool", content: "maybe", tool_call_id: "call_1", tool_calls: null },
      ],
    } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming,
  );
  assert.equal(completion.choices[0]!.message.content, "Yes.");
  assert.deepEqual(upstream.asked, [{
    model: "m",
    messages: [
      { role: "user", content: "Is it?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", content: "maybe", tool_call_id: "call_1" },
    ],
    // Of the gateway: an upstream is always told a limit.
    max_tokens: 4096,
  }]);
});

Deno.test(
  "null is no value for what is required, and no excuse for what is wrong",
  options,
  async () => {
    await using gateway = await openChatGateway();
    const said = [{ role: "user", content: "x" }];
    for (
      const [body, code, param, message] of [
        [{ model: null, messages: said }, "invalid_value", "model", "model must be a string."],
        [
          { messages: null },
          "invalid_value",
          "messages",
          /^messages must be an array of objects, such as /,
        ],
        [
          { messages: [{ role: null, content: "x", name: null }] },
          "invalid_value",
          "messages.0.role",
          /^messages\.0\.role must be one of system, /,
        ],
        [
          { user: null, temperature: "hot" },
          "invalid_value",
          "temperature",
          "temperature must be a number from 0 to 2.",
        ],
        [{ stop: [null] }, "invalid_value", "stop.0", "stop.0 must be a string."],
      ] as const
    ) {
      const error = await errorOf(await gateway.chat("talk", "x", body));
      assert.deepEqual([error.code, error.param], [code, param]);
      if (typeof message === "string") assert.equal(error.message, message);
      else assert.match(error.message, message);
    }
  },
);

Deno.test(
  "media requests take null for what is left out, and are the same request",
  options,
  async () => {
    await using gateway = await openMediaGateway({ cash: "10" });
    const key = { "idempotency-key": "one" };
    const made = await gateway.submit("/v1/images/generations", {
      model: "image-model",
      prompt: "a tide",
    }, key);
    const again = await gateway.submit("/v1/images/generations", {
      ...{ size: null, aspect_ratio: null, n: null, input_images: null, callback_url: null },
      model: "image-model",
      prompt: "a tide",
    }, key);
    assert.equal(again.id, made.id);
    const video = { model: "video-model", prompt: "x", duration: null, aspect_ratio: null };
    const { id: videoId } = await gateway.submit("/v1/videos/generations", {
      ...video,
      input_images: null,
      callback_url: null,
    });
    const quote = await gateway.post("/v1/quotes", { path: "/videos/generations", body: video });
    assert.equal((await quote.json()).amount, "0.08");
    const talker = await gateway.submit("/v1/avatars/generations", {
      model: "talker",
      avatar_file_id:
        (await gateway.task(made.id), (await gateway.ended(made.id)).output[0].file_id),
      audio_file_id: await gateway.upload("a.wav", wav(1)),
      aspect_ratio: null,
      callback_url: null,
    });
    const client = new OpenAI({
      apiKey: gateway.key,
      baseURL: `${gateway.address}/v1`,
      maxRetries: 0,
    });
    const audio = await client.audio.speech.create({
      model: "voice",
      input: "The gate is open.",
      voice: "alma",
      response_format: null,
      speed: null,
    } as unknown as OpenAI.Audio.SpeechCreateParams);
    assert.ok((await audio.arrayBuffer()).byteLength > 100);
    for (const id of [videoId, talker.id]) {
      assert.equal((await gateway.ended(id)).status, "succeeded");
    }
    const refused = await gateway.post("/v1/images/generations", {
      model: "image-model",
      prompt: null,
    });
    assert.equal((await errorOf(refused)).param, "prompt");
  },
);
