import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

/** A gateway and a model to talk to; what stands behind it is not the clients' business. */
export interface ChatService {
  address: string;
  key: string;
  model: string;
}

const WEATHER = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};

/** The official openai package: everything people use of it for chat. */
export async function openaiPackage(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const client = new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Say something about tides." }];

  await t.step("openai: a whole answer", async () => {
    const { data, request_id } = await client.chat.completions.create({ model, messages })
      .withResponse();
    assert.ok(data.choices[0]!.message.content!.length > 0);
    assert.equal(data.model, model);
    assert.ok(data.usage!.total_tokens > 0);
    assert.match(request_id ?? "", /^req_/);
  });

  await t.step("openai: a stream, with usage when asked", async () => {
    let text = "";
    let total = 0;
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      total = chunk.usage?.total_tokens ?? total;
    }
    assert.ok(text.length > 0);
    assert.ok(total > 0);
  });

  await t.step("openai: the stream helper gathers a final answer", async () => {
    const runner = client.chat.completions.stream({ model, messages });
    const final = await runner.finalChatCompletion();
    assert.ok(final.choices[0]!.message.content!.length > 0);
  });

  await t.step("openai: a tool is called and its result understood", async () => {
    const asked = [{ role: "user" as const, content: "Use weather for Oslo." }];
    const first = await client.chat.completions.create({
      model,
      messages: asked,
      tools: [WEATHER],
      tool_choice: "required",
    });
    const call = first.choices[0]!.message.tool_calls![0]!;
    assert.ok(call.type === "function" && call.function.name === "weather");
    assert.equal(typeof JSON.parse(call.function.arguments).city, "string");
    const second = await client.chat.completions.create({
      model,
      tools: [WEATHER],
      messages: [...asked, first.choices[0]!.message, {
        role: "tool",
        tool_call_id: call.id,
        content: '{"degrees":7}',
      }],
    });
    assert.ok((second.choices[0]!.message.content ?? "").length > 0);
  });

  await t.step("openai: parse gives a typed object for a schema", async () => {
    const Person = z.object({ name: z.string(), age: z.number().int() });
    const parsed = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Person, "person"),
    });
    assert.equal(typeof parsed.choices[0]!.message.parsed!.name, "string");
  });

  await t.step("openai: abort ends a stream", async () => {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) {
      stream.controller.abort();
      break;
    }
  });

  await t.step("openai: typed errors", async () => {
    await assert.rejects(
      client.chat.completions.create({ model: "nothing", messages }),
      OpenAI.NotFoundError,
    );
    await assert.rejects(
      client.chat.completions.create({ model, messages: [] }),
      (error: unknown) => error instanceof OpenAI.BadRequestError && error.param === "messages",
    );
    const stranger = new OpenAI({ apiKey: "sk-no", baseURL: `${address}/v1`, maxRetries: 0 });
    await assert.rejects(
      stranger.chat.completions.create({ model, messages }),
      OpenAI.AuthenticationError,
    );
  });
}

/** The Vercel AI SDK, through its provider for OpenAI-compatible services. */
export async function vercelSdk(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const provider = createOpenAICompatible({
    name: "tollgate",
    apiKey: key,
    baseURL: `${address}/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const chat = provider.chatModel(model);

  await t.step("ai: generateText", async () => {
    const { text, usage } = await generateText({
      model: chat,
      prompt: "Say something about tides.",
      maxRetries: 0,
    });
    assert.ok(text.length > 0);
    assert.ok((usage.totalTokens ?? 0) > 0);
  });

  await t.step("ai: streamText", async () => {
    const result = streamText({ model: chat, prompt: "Say something about tides.", maxRetries: 0 });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    assert.ok(text.length > 0);
    assert.ok(((await result.usage).totalTokens ?? 0) > 0);
  });

  await t.step("ai: generateObject", async () => {
    const schema = jsonSchema<{ name: string; tags: string[] }>({
      type: "object",
      properties: { name: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      required: ["name", "tags"],
      additionalProperties: false,
    });
    const { object } = await generateObject({
      model: chat,
      schema,
      prompt: "A person.",
      maxRetries: 0,
    });
    assert.equal(typeof object.name, "string");
    assert.ok(Array.isArray(object.tags));
  });

  await t.step("ai: tools run and their results come back", async () => {
    let asked: string | undefined;
    const { text, steps } = await generateText({
      model: chat,
      maxRetries: 0,
      prompt: "Use weather for Oslo.",
      stopWhen: stepCountIs(3),
      tools: {
        weather: tool({
          description: "The weather of a city.",
          inputSchema: jsonSchema<{ city: string }>(WEATHER.function.parameters as never),
          execute: ({ city }) => (asked = city, { degrees: 7 }),
        }),
      },
    });
    assert.equal(typeof asked, "string");
    assert.ok(steps.length >= 2);
    assert.ok(text.length > 0);
  });
}
