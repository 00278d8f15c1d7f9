import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import type { ChatService } from "./chat_suite.ts";

const PLACE = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false as const,
};
const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  parameters: PLACE,
  strict: true,
};

/** The official openai package, by its Responses API. */
export async function openaiResponses(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const client = new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });
  const input = "Say something about tides.";

  await t.step("responses: a whole answer, retrieved, listed and deleted", async () => {
    const response = await client.responses.create({ model, input });
    assert.ok(response.output_text.length > 0);
    assert.ok(response.usage!.total_tokens > 0);
    const again = await client.responses.retrieve(response.id);
    assert.equal(again.output_text, response.output_text);
    const items = await client.responses.inputItems.list(response.id);
    assert.equal(items.data.length, 1);
    await client.responses.delete(response.id);
    await assert.rejects(client.responses.retrieve(response.id), OpenAI.NotFoundError);
  });

  await t.step("responses: the stream helper gathers a final response", async () => {
    let text = "";
    const stream = client.responses.stream({ model, input });
    stream.on("response.output_text.delta", ({ delta }) => text += delta);
    const response = await stream.finalResponse();
    assert.ok(text.length > 0);
    assert.equal(response.output_text, text);
  });

  await t.step("responses: a background response is polled until it is completed", async () => {
    const queued = await client.responses.create({ model, input, background: true });
    assert.equal(queued.status, "queued");
    let response = queued;
    while (response.status === "queued" || response.status === "in_progress") {
      response = await client.responses.retrieve(queued.id);
    }
    assert.deepEqual([response.id, response.status], [queued.id, "completed"]);
    assert.ok(response.output_text.length > 0);
    const { output, status } = await client.responses.cancel(queued.id);
    assert.deepEqual([output, status], [response.output, "completed"]);
    const { id } = await client.responses.create({ model, input });
    await assert.rejects(client.responses.cancel(id), OpenAI.BadRequestError);
  });

  await t.step("responses: a tool is called, and a stored turn is continued", async () => {
    const first = await client.responses.create({
      model,
      input: "Use weather for Oslo.",
      tools: [WEATHER],
      tool_choice: "required",
    });
    const call = first.output.find((item) => item.type === "function_call")!;
    assert.equal(typeof JSON.parse(call.arguments).city, "string");
    const second = await client.responses.create({
      model,
      tools: [WEATHER],
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: '{"degrees":7}' }],
    });
    assert.ok(second.output_text.length > 0);
  });

  await t.step("responses: parse gives a typed object for a schema", async () => {
    const Person = z.object({ name: z.string(), age: z.number().int() });
    const parsed = await client.responses.parse({
      model,
      input,
      text: { format: zodTextFormat(Person, "person") },
    });
    assert.equal(typeof parsed.output_parsed!.name, "string");
  });

  await t.step("responses: abort ends a stream", async () => {
    const stream = await client.responses.create({ model, input, stream: true });
    let events = 0;
    for await (const _ of stream) {
      events++;
      stream.controller.abort();
      break;
    }
    assert.equal(events, 1);
  });

  await t.step("responses: typed errors", async () => {
    await assert.rejects(
      client.responses.create({ model: "nothing", input }),
      OpenAI.NotFoundError,
    );
    await assert.rejects(
      client.responses.create({ model, input, background: true, store: false }),
      (error: unknown) => error instanceof OpenAI.BadRequestError && error.param === "store",
    );
    const stranger = new OpenAI({ apiKey: "sk-no", baseURL: `${address}/v1`, maxRetries: 0 });
    await assert.rejects(stranger.responses.create({ model, input }), OpenAI.AuthenticationError);
  });
}

/** The Vercel AI SDK by its default call: `openai(model)` speaks Responses. */
export async function vercelDefault(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const openai = createOpenAI({ apiKey: key, baseURL: `${address}/v1` });
  const prompt = "Say something about tides.";

  await t.step("ai default: generateText and streamText", async () => {
    const { text, usage } = await generateText({ model: openai(model), prompt, maxRetries: 0 });
    assert.ok(text.length > 0);
    assert.ok((usage.totalTokens ?? 0) > 0);
    const result = streamText({ model: openai(model), prompt, maxRetries: 0 });
    let streamed = "";
    for await (const piece of result.textStream) streamed += piece;
    assert.equal(streamed, text);
  });

  await t.step("ai default: generateObject", async () => {
    const schema = jsonSchema<{ city: string }>(PLACE);
    const { object } = await generateObject({
      model: openai(model),
      schema,
      prompt,
      maxRetries: 0,
    });
    assert.equal(typeof object.city, "string");
  });

  await t.step("ai default: tools run, and stored items are referred to", async () => {
    let asked: string | undefined;
    const { text, steps } = await generateText({
      model: openai(model),
      maxRetries: 0,
      prompt: "Use weather for Oslo.",
      stopWhen: stepCountIs(3),
      tools: {
        weather: tool({
          description: "The weather of a city.",
          inputSchema: jsonSchema<{ city: string }>(PLACE),
          execute: ({ city }) => (asked = city, { degrees: 7 }),
        }),
      },
    });
    assert.equal(typeof asked, "string");
    assert.ok(steps.length >= 2);
    assert.ok(text.length > 0);
  });

  await t.step("ai default: abort, and errors with their status", async () => {
    const abort = new AbortController();
    abort.abort();
    await assert.rejects(
      generateText({ model: openai(model), prompt, maxRetries: 0, abortSignal: abort.signal }),
      { name: "AbortError" },
    );
    await assert.rejects(
      generateText({ model: openai("nothing"), prompt, maxRetries: 0 }),
      (error: unknown) => (error as { statusCode?: number }).statusCode === 404,
    );
  });
}
