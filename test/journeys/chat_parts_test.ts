import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { type FakeUpstream, startFakeUpstream } from "../helpers/fake_upstream.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==";
const PDF = btoa("%PDF-1.7 many pages");
const LINK_LOCAL = "http://169.254.169.254/latest/meta-data";

const configFor = (address: string, more = "") => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
providers:
  open: { adapter: openai_compatible, base_url: "${address}/v1" }
  third: { adapter: gemini, base_url: "${address}/g", api_key: "\${NO_SUCH_KEY:-k}" }
  other: { adapter: anthropic, base_url: "${address}/v1", api_key: "\${NO_SUCH_KEY:-k}" }
models:
  - { id: sees, name: Sees, type: chat, capabilities: [chat, vision, tools, json_schema], limits: { max_output_tokens: 10, max_prompt_length: 1000 },
      upstreams: [{ provider: open, model: m }] }
  - { id: reads, name: Reads, type: chat, capabilities: [chat], limits: { max_output_tokens: 10 }, upstreams: [{ provider: open, model: m }] }
  - { id: turns, name: Turns, type: chat, capabilities: [chat, vision], limits: { max_output_tokens: 10 }, upstreams: [{ provider: other, model: m }] }
  - { id: watches, name: Watches, type: chat, capabilities: [chat, vision], limits: { max_output_tokens: 10 }, upstreams: [{ provider: third, model: m }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: sees, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
      - { model: reads, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
      - { model: watches, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
      - { model: turns, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
${more}`;

function answering(): FakeUpstream {
  const upstream = startFakeUpstream();
  upstream.answer({
    status: 200,
    body: {
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Yes." },
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  });
  return upstream;
}

const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const image = (image_url: unknown) => ({ type: "image_url", image_url });
const text = { type: "text", text: "Is it?" };
const called = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };

Deno.test(
  "400 for a part that holds more than its type says: nothing is sent and nothing held",
  STRICT,
  async () => {
    await using upstream = answering();
    await using gateway = await openChatGateway({ config: configFor(upstream.url) });
    const video = { type: "video_url", video_url: { url: LINK_LOCAL } };
    const at = "messages.0.content.0";
    for (
      const [model, body, code, param] of [
        ["reads", user({ ...video, text: "" }), "capability_not_supported", `${at}.type`],
        ["reads", user({ ...video, text: "Look" }), "capability_not_supported", `${at}.type`],
        ["reads", user({ ...video, ...text }), "invalid_value", `${at}.video_url`],
        [
          "reads",
          user({ ...image({ url: LINK_LOCAL }), ...text }),
          "invalid_value",
          `${at}.image_url`,
        ],
        ["reads", user({ ...text, source: { url: LINK_LOCAL } }), "invalid_value", `${at}.source`],
        ["reads", user({ type: "text" }), "invalid_value", `${at}.text`],
        ["reads", user({ type: "text", text: { url: LINK_LOCAL } }), "invalid_value", `${at}.text`],
        ["reads", user(image({ url: PNG })), "capability_not_supported", "messages"],
        ["sees", user({ ...image({ url: PNG }), text: "" }), "invalid_value", `${at}.text`],
        [
          "sees",
          user(image({ url: PNG, file_id: "f" })),
          "unknown_field",
          `${at}.image_url.file_id`,
        ],
        [
          "sees",
          user(image({ url: PNG, detail: "all" })),
          "invalid_value",
          `${at}.image_url.detail`,
        ],
        ["sees", user(image({ url: PNG, detail: {} })), "invalid_value", `${at}.image_url.detail`],
        ["sees", user({ type: "refusal", refusal: "No" }), "invalid_value", `${at}.type`],
        [
          "sees",
          user({ type: "file", file: { file_data: PNG } }),
          "capability_not_supported",
          `${at}.type`,
        ],
        ["sees", user({ type: "constructor" }), "capability_not_supported", `${at}.type`],
        [
          "sees",
          {
            messages: [{ role: "system", content: [image({ url: PNG })] }, {
              role: "user",
              content: "?",
            }],
          },
          "invalid_value",
          `${at}.type`,
        ],
        [
          "reads",
          { messages: [{ role: "tool", tool_call_id: "c1", content: [{ ...video, text: "" }] }] },
          "capability_not_supported",
          `${at}.type`,
        ],
        [
          "reads",
          { messages: [{ role: "assistant", content: "x", audio: { id: "audio_1" } }] },
          "capability_not_supported",
          "messages.0.audio",
        ],
        [
          "reads",
          {
            messages: [{
              role: "assistant",
              tool_calls: [{ id: "c1", type: "custom", custom: {} }],
            }],
          },
          "capability_not_supported",
          "messages.0.tool_calls.0.type",
        ],
        [
          "reads",
          { prediction: { type: "content", content: [{ ...video, text: "" }] } },
          "invalid_value",
          "prediction.content.0",
        ],
        [
          "sees",
          { messages: [{ role: "assistant", content: "", refusal: "x".repeat(1001) }] },
          "prompt_too_long",
          "messages",
        ],
        [
          "sees",
          {
            messages: [{
              role: "assistant",
              tool_calls: [{ ...called, function: { name: "f", arguments: "x".repeat(1001) } }],
            }],
          },
          "prompt_too_long",
          "messages",
        ],
      ] as const
    ) {
      const res = await gateway.chat(model, "hi", body);
      assert.equal(res.status, 400, JSON.stringify(body));
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(body));
    }
    assert.equal(upstream.seen.length, 0);
    assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  },
);

Deno.test("400 for an inline image that is none, by its name or by its bytes", STRICT, async () => {
  await using upstream = answering();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  for (const model of ["sees", "turns"]) {
    for (
      const url of [
        `data:application/pdf;base64,${PDF}`,
        `data:image/png;base64,${PDF}`,
        "data:application/pdf;base64,iVBORw0KGgoAAAANSUhEUg==",
        `DATA:application/pdf;base64,${PDF}`,
        `data:image/png;x=${"y".repeat(300)};base64,iVBORw0KGgo=`,
        "data:image/png,%89PNG",
        "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=",
        "data:,",
      ]
    ) {
      const res = await gateway.chat(model, "", user(text, image({ url })));
      assert.equal(res.status, 400, url);
      const error = await errorOf(res);
      assert.deepEqual(
        [error.code, error.param],
        ["invalid_value", "messages.0.content.1.image_url.url"],
        url,
      );
    }
  }
  assert.equal(upstream.seen.length, 0);
  for (
    const bytes of ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0", "GIF89a", "RIFF\0\0\0\0WEBPVP8 "]
  ) {
    const url = `data:image/png;base64,${btoa(bytes)}`;
    const res = await gateway.chat("sees", "", user(text, image({ url, detail: "low" })));
    assert.equal(res.status, 200, await res.text());
  }
  assert.deepEqual((await gateway.balance()).frozen, "0.00");
});

Deno.test("400 for an inline image with anything but base64 in it", STRICT, async () => {
  await using upstream = answering();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  for (
    const url of [
      `${PNG}${"Tell me of the sea. ".repeat(3_000)}`,
      `${PNG.slice(0, -2)} Tell me of the sea.`,
      `${PNG.slice(0, -2)}é`,
      `${PNG.slice(0, -2)}%3D%3D`,
      `${PNG}AAAA`,
      `${PNG}==`,
      `${PNG}\n`,
      PNG.slice(0, -1),
      PNG.slice(0, -3),
      PNG.slice(0, -3) + "===",
      `${PNG.slice(0, -2)}A=${"A".repeat(65_536)}`,
      `${PNG.slice(0, -2)}-_`,
    ]
  ) {
    const res = await gateway.chat("sees", "", user(text, image({ url })));
    assert.equal(res.status, 400, url.slice(0, 80));
    const { code, param } = await errorOf(res);
    assert.deepEqual([code, param], ["invalid_value", "messages.0.content.1.image_url.url"]);
  }
  assert.equal(upstream.seen.length, 0);
  for (const url of [PNG, PNG.slice(0, -2), `${PNG.slice(0, -2)}A=`, `${PNG.slice(0, -2)}+/`]) {
    const res = await gateway.chat("sees", "", user(text, image({ url })));
    assert.equal(res.status, 200, await res.text());
  }
  assert.deepEqual((await gateway.balance()).frozen, "0.00");
});

Deno.test("only OpenAI's fields of messages and tools reach an upstream", STRICT, async () => {
  await using upstream = answering();
  await using gateway = await openChatGateway({ config: configFor(upstream.url) });
  const video_url = { url: LINK_LOCAL };
  const res = await gateway.chat("sees", "", {
    messages: [
      { role: "system", content: "Be brief", video_url },
      {
        role: "user",
        name: "ada",
        content: [{ ...text, cache_control: { type: "ephemeral" } }],
        video_url,
      },
      {
        role: "assistant",
        content: null,
        refusal: null,
        annotations: [],
        reasoning_content: "Hm",
        tool_calls: [{
          ...called,
          index: 0,
          video_url,
          function: { ...called.function, video_url },
        }],
      },
      { role: "tool", tool_call_id: "c1", content: [{ ...text, image_url: null }], video_url },
    ],
    tools: [{
      type: "function",
      cache_control: {},
      function: { name: "f", parameters: { type: "object" }, video_url },
    }],
  });
  assert.equal(res.status, 200, await res.text());
  const sent = JSON.parse(upstream.seen[0]!.body);
  assert.deepEqual(sent.messages, [
    { role: "system", content: "Be brief" },
    { role: "user", name: "ada", content: [text] },
    { role: "assistant", content: null, reasoning_content: "Hm", tool_calls: [called] },
    { role: "tool", tool_call_id: "c1", content: [text] },
  ]);
  assert.deepEqual(sent.tools, [
    { type: "function", function: { name: "f", parameters: { type: "object" } } },
  ]);
});

Deno.test(
  "400 for a linked image whose host name leads inside, unless private addresses are allowed",
  STRICT,
  async () => {
    await using upstream = answering();
    const hosts: Record<string, string[]> = {
      "public.example.com": ["93.184.215.14", "2606:2800:21f:cb07::1"],
      "inside.example.com": ["10.0.0.7"],
      "half.example.com": ["93.184.215.14", "169.254.169.254"],
      "six.example.com": ["fd00::1"],
    };
    let asked = 0;
    const resolve = (host: string) => {
      asked++;
      if (host === "slow.example.com") return new Promise<string[]>(() => {});
      return host in hosts
        ? Promise.resolve(hosts[host]!)
        : Promise.reject(new Error(`${host} does not resolve`));
    };
    const ask = async (gateway: Awaited<ReturnType<typeof openChatGateway>>, host: string) => {
      const res = await gateway.chat(
        "sees",
        "",
        user(text, image({ url: `https://${host}/a.png` })),
      );
      if (res.status === 200) return await res.text(), "ok";
      const { code, param } = await errorOf(res);
      return `${res.status} ${code} ${param}`;
    };
    const refused = "400 unsafe_url messages.0.content.1.image_url.url";
    {
      await using gateway = await openChatGateway({
        config: configFor(upstream.url),
        resolve,
      });
      for (const host of ["inside", "half", "six", "gone", "slow"]) {
        assert.equal(await ask(gateway, `${host}.example.com`), refused, host);
      }
      assert.equal(upstream.seen.length, 0);
      assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
      asked = 0;
      for (let n = 0; n < 3; n++) assert.equal(await ask(gateway, "public.example.com"), "ok");
      assert.equal(asked, 1, "an answer is used again");
      const many = Array.from(
        { length: 21 },
        (_, n) => image({ url: `https://h${n}.example.com/` }),
      );
      const res = await gateway.chat("sees", "", user(...many));
      assert.deepEqual([(await errorOf(res)).code, asked], ["invalid_value", 1]);
      // A chat without linked images asks for nothing.
      assert.equal((await (await gateway.chat("sees", "hi")).json()).object, "chat.completion");
      assert.equal(asked, 1);
    }
    await using lenient = await openChatGateway({
      config: configFor(upstream.url, "outbound: { allow_private: true }"),
      resolve,
    });
    assert.equal(await ask(lenient, "inside.example.com"), "ok");
  },
);

Deno.test(
  "400 for a link that a provider would take for a video or a document",
  STRICT,
  async () => {
    await using upstream = answering();
    await using gateway = await openChatGateway({ config: configFor(upstream.url) });
    for (
      const url of [
        "https://www.youtube.com/watch?v=9hE5-98ZeCg",
        "https://youtu.be/9hE5-98ZeCg",
        "https://generativelanguage.googleapis.com/v1beta/files/abc",
        "https://example.com/a.pdf?page=1",
        "https://example.com/a.MP4",
      ]
    ) {
      const res = await gateway.chat("watches", "", user(text, image({ url })));
      assert.equal(res.status, 400, url);
      const error = await errorOf(res);
      assert.deepEqual(
        [error.code, error.param],
        ["capability_not_supported", "messages.0.content.1.image_url.url"],
      );
    }
    assert.equal(upstream.seen.length, 0);
    assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  },
);

Deno.test(
  "400 for a schema that refers to another document, which an upstream might fetch",
  STRICT,
  async () => {
    await using upstream = answering();
    await using gateway = await openChatGateway({ config: configFor(upstream.url) });
    const schema = (ref: string) => ({
      type: "object",
      properties: { a: { anyOf: [{ $ref: ref }] }, $ref: { type: "string" } },
      $defs: { b: { type: "string" } },
    });
    const bodies = (ref: string) =>
      [
        [
          { tools: [{ type: "function", function: { name: "f", parameters: schema(ref) } }] },
          "tools.0.function.parameters",
        ],
        [{ functions: [{ name: "f", parameters: schema(ref) }] }, "functions.0.parameters"],
        [
          {
            response_format: {
              type: "json_schema",
              json_schema: { name: "n", schema: schema(ref) },
            },
          },
          "response_format.json_schema.schema",
        ],
      ] as const;
    for (const [body, param] of bodies(LINK_LOCAL)) {
      const res = await gateway.chat("sees", "hi", body);
      assert.equal(res.status, 400, param);
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], ["invalid_value", param]);
    }
    assert.equal(upstream.seen.length, 0);
    for (const [body] of bodies("#/$defs/b")) {
      const res = await gateway.chat("sees", "hi", body);
      assert.equal(res.status, 200, await res.text());
    }
  },
);
