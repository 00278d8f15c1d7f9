import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { pngHead } from "../helpers/counting_upstream.ts";
import { png, wav } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";

/** What a refusal says, word for word: it is all that a developer has to go by. */
const STRICT = { sanitizeOps: true, sanitizeResources: true };

type Case = readonly [body: Record<string, unknown>, param: string, message: string];

Deno.test("a chat that is refused says what would be accepted", STRICT, async () => {
  await using gateway = await openChatGateway();
  const parts = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
  const text = { type: "text", text: "What is this?" };
  const object =
    'must be an object with a url in a string, such as {"url": "https://example.com/a.png"}.';
  const imageParam = "messages.0.content.1.image_url";
  const cases: Case[] = [
    [{ model: 7 }, "model", "model must be a string. Put it in quotes."],
    [
      { messages: "hi" },
      "messages",
      'messages must be an array of objects, such as [{"role":"user","content":"Hello"}]. ' +
      "Put it in brackets.",
    ],
    [
      { max_tokens: "10" },
      "max_tokens",
      "max_tokens must be a whole number, 1 or more. Leave out the quotes.",
    ],
    [{ max_tokens: 1.5 }, "max_tokens", "max_tokens must be a whole number, 1 or more."],
    [{ temperature: "hot" }, "temperature", "temperature must be a number from 0 to 2."],
    [{ stream: "true" }, "stream", "stream must be true or false. Leave out the quotes."],
    [{ stop: 5 }, "stop", "stop must be a string or an array of strings. Put it in quotes."],
    [
      { response_format: "json" },
      "response_format",
      'response_format must be an object, such as {"type":"json_object"}.',
    ],
    [
      { response_format: { type: "json_objekt" } },
      "response_format.type",
      'response_format.type must be one of text, json_object, json_schema. Did you mean "json_object"?',
    ],
    [
      { messages: undefined, mesages: [] },
      "messages",
      'The field messages is missing. There is "mesages": was messages meant?',
    ],
    [
      parts(text, { type: "image_url", image_url: "https://example.com/a.png" }),
      imageParam,
      `${imageParam} ${object}`,
    ],
    [parts(text, { type: "image_url" }), imageParam, `${imageParam} ${object}`],
    [
      parts(text, { type: "image_url", image_url: { url: 7 } }),
      imageParam,
      `${imageParam} ${object}`,
    ],
    [
      parts(text, { type: "image_url", image_url: { url: "https://localhost/a.png" } }),
      `${imageParam}.url`,
      "Images must be data: URLs, or public https URLs without port or user.",
    ],
    [
      parts(text, { type: "file" }),
      "messages.0.content.1.type",
      'The model "talk" does not support files.',
    ],
    [
      { messages: [{ role: "user", content: "x".repeat(5001) }] },
      "messages",
      "The messages have 5001 characters. The limit of talk is 5000.",
    ],
    [
      { messages: [{ role: "user", content: "[[simulate: status=413]]" }] },
      "messages",
      "The messages exceed the context length of talk (10000 tokens, including the answer). " +
      "Shorten them or set a smaller max_tokens.",
    ],
  ];
  for (const [body, param, message] of cases) {
    const error = await errorOf(await gateway.chat("talk", "hi", body));
    assert.deepEqual([error.message, error.param], [message, param]);
  }
});

Deno.test("a media request that is refused says what would be accepted", STRICT, async () => {
  const text = await Deno.readTextFile(
    new URL("../helpers/media_config.yaml", import.meta.url),
  );
  const config = text.replace("outbound: { allow_private: true }", "");
  await using gateway = await openMediaGateway({ config, cash: "0.01" });
  const image = await gateway.upload("me.png", png(8, 8));
  const audio = await gateway.upload("me.wav", wav(1));
  const imageRequest = { model: "image-model", prompt: "x" };
  const instead = "A file id from POST /v1/files works too.";
  const cases: readonly [path: string, ...Case][] = [
    [
      "/v1/images/generations",
      { ...imageRequest, input_images: ["data:image/png;base64,iVBORw0KGgo="] },
      "input_images.0",
      `input_images.0 must be an https:// address. ${instead}`,
    ],
    [
      "/v1/images/generations",
      { ...imageRequest, input_images: ["./me.png"] },
      "input_images.0",
      `input_images.0 must be an https:// address. ${instead}`,
    ],
    [
      "/v1/images/generations",
      { ...imageRequest, input_images: [`data:image/png;base64,${"A".repeat(3000)}`] },
      "input_images.0",
      "input_images.0 may not be longer than 2048 characters. " +
      "Use a public https URL, or a file id from POST /v1/files.",
    ],
    [
      "/v1/images/generations",
      { ...imageRequest, input_images: image },
      "input_images",
      "input_images must be an array of strings. Put it in brackets.",
    ],
    [
      "/v1/images/generations",
      { ...imageRequest, n: "2" },
      "n",
      "n must be a whole number from 1 to 10. Leave out the quotes.",
    ],
    [
      "/v1/images/generations",
      { ...imageRequest, input_images: [audio] },
      "input_images.0",
      "input_images.0 must be the id of an image: this file is audio.",
    ],
    [
      "/v1/avatars/generations",
      { model: "talker", avatar_file_id: audio, audio_file_id: audio },
      "avatar_file_id",
      "avatar_file_id must be the id of an image or a video: this file is audio.",
    ],
    [
      "/v1/avatars/generations",
      { model: "talker", avatar_file_id: image, audio_file_id: audio, aspect_ratio: "1:1" },
      "aspect_ratio",
      "aspect_ratio can only be 9:16 with talker.",
    ],
    [
      "/v1/videos/generations",
      { model: "video-model", prompt: "x", aspect_ratio: "9:16" },
      "aspect_ratio",
      "aspect_ratio must be one of 16:9, 1:1 with video-model.",
    ],
    [
      "/v1/audio/speech",
      { model: "timed-voice", input: "x", voice: "bruno" },
      "voice",
      "voice can only be alma with timed-voice.",
    ],
    [
      "/v1/videos/generations",
      imageRequest,
      "model",
      "image-model is an image model, but /videos/generations accepts video models only. " +
      "GET /v1/models?type=video lists them.",
    ],
    [
      "/v1/chat/completions",
      { model: "image-model", messages: [{ role: "user", content: "hi" }] },
      "model",
      "image-model is an image model, not a chat model. GET /v1/models?type=chat lists chat models.",
    ],
  ];
  for (const [path, body, param, message] of cases) {
    const error = await errorOf(await gateway.post(path, body));
    assert.deepEqual([error.message, error.param], [message, param]);
  }
  const short = await gateway.post("/v1/images/generations", { ...imageRequest, n: 2 });
  assert.equal(short.status, 402);
  assert.equal(
    (await errorOf(short)).message,
    "The balance does not cover this request, which may cost up to 0.08 EUR: " +
      "recharge at /console/billing or change plan.",
  );
});

/** By how each model's upstream counts images: not at all, with and without a context, and by a rule. */
const VISION = `
providers:
  plain: { adapter: openai_compatible, base_url: "http://127.0.0.1:9/v1" }
  ruled: { adapter: openai, base_url: "http://127.0.0.1:9/v1", api_key: "\${KEY:-k}" }
models:
  - { id: unknown, name: M, type: chat, capabilities: [chat, vision], limits: { context_tokens: 128000, max_output_tokens: 150000 }, upstreams: [{ provider: plain, model: m }] }
  - { id: boundless, name: M, type: chat, capabilities: [chat, vision], limits: { max_output_tokens: 150000 }, upstreams: [{ provider: plain, model: n }] }
  - { id: known, name: M, type: chat, capabilities: [chat, vision], limits: { context_tokens: 128000, max_output_tokens: 150000 }, upstreams: [{ provider: ruled, model: gpt-4o-mini }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: unknown, billing_type: token, input_price: "1", output_price: "1", unit: 1K tokens }
      - { model: boundless, billing_type: token, input_price: "1", output_price: "1", unit: 1K tokens }
      - { model: known, billing_type: token, input_price: "1", output_price: "1", unit: 1K tokens }
`;

Deno.test("402 names the image where it is most of what a chat may cost", STRICT, async () => {
  await using gateway = await openChatGateway({ cash: "0.01", config: VISION });
  const url = `data:image/png;base64,${pngHead(1, 1)}`;
  const content = [{ type: "text", text: "Hi" }, { type: "image_url", image_url: { url } }];
  const hint = async (model: string, max_tokens: number) => {
    const messages = [{ role: "user", content }];
    const res = await gateway.chat(model, "", { messages, max_tokens });
    assert.equal(res.status, 402, await res.clone().text());
    return (await errorOf(res)).message.split(" change plan. ")[1];
  };
  const other = "use a model with a lower price, or leave the image out.";
  assert.equal(
    await hint("unknown", 50),
    "An image is counted as the model's whole context, since its size in tokens is not known: " +
      other,
  );
  assert.equal(
    await hint("boundless", 50),
    `An image is counted as 65536 tokens, since its size in tokens is not known: ${other}`,
  );
  assert.equal(
    await hint("known", 50),
    "Most of it is for images: fewer or smaller images cost less.",
  );
  assert.deepEqual((await gateway.balance()).frozen, "0.00");
});

Deno.test(
  "402 names the amount that POST /v1/quotes does, and what would cost less",
  STRICT,
  async () => {
    await using gateway = await openChatGateway({ cash: "0.01" });
    const body = { model: "talk", messages: [{ role: "user", content: "Hello" }], max_tokens: 7 };
    const res = await gateway.fetch("/v1/quotes", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ path: "/chat/completions", body }),
    });
    const { amount, currency } = await res.json();
    const told =
      `The balance does not cover this request, which may cost up to ${amount} ${currency}: ` +
      "recharge at /console/billing or change plan.";
    const chat = await gateway.chat("talk", "Hello", { max_tokens: 7 });
    assert.equal(
      (await errorOf(chat)).message,
      `${told} It does not cover the messages alone: shorter ones cost less.`,
    );
    const call = await gateway.chat("by-call", "Hello");
    assert.equal(
      (await errorOf(call)).message,
      told.replace(amount, "1.00"),
      "a price by the call has nothing to do with tokens",
    );
  },
);

Deno.test(
  "a body of the operator's that is refused says what would be accepted",
  STRICT,
  async () => {
    await using gateway = await openGateway();
    const credits = `/accounts/${gateway.account}/credits`;
    const credit = { kind: "cash", amount: "1", reference: "r" };
    const date = 'must be a date and time with its offset, such as "2027-01-31T00:00:00Z".';
    const decimal = 'amount must be a decimal string above zero, such as "12.50".';
    const cases: readonly [path: string, body: unknown, message: string][] = [
      [credits, { ...credit, amount: "1,50" }, decimal],
      [credits, { ...credit, amount: 1.5 }, `${decimal} Put it in quotes.`],
      [credits, { ...credit, expires_at: "tomorrow" }, `expires_at ${date}`],
      [credits, { ...credit, expires_at: 1893456000 }, `expires_at ${date}`],
      [
        credits,
        { ...credit, kind: "gifts" },
        'kind must be one of cash, gift, correction. Did you mean "gift"?',
      ],
      [
        "/accounts",
        { name: "x", email: "ada" },
        'email must be an e-mail address, such as "ada@example.com".',
      ],
      ["/accounts", { nmae: "x" }, 'The field name is missing. There is "nmae": was name meant?'],
      ["/accounts", [], "The body must be a JSON object, in braces."],
    ];
    for (const [path, body, message] of cases) {
      assert.equal((await errorOf(await gateway.admin("POST", path, body))).message, message);
    }
    const send = (body: string) =>
      gateway.fetch("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body,
      });
    assert.equal((await errorOf(await send(""))).message, "The body is empty: send a JSON object.");
    assert.equal(
      (await errorOf(await send('{\n  "model": tiny-chat\n}'))).message,
      'The body is not valid JSON, at line 2, column 12: unexpected "t".',
    );
  },
);
