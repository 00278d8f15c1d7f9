import assert from "node:assert/strict";
import { ChatOpenAI } from "@langchain/openai";
import { tool as langchainTool } from "@langchain/core/tools";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { OpenAIResponses } from "@llamaindex/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import type { ChatService } from "./chat_suite.ts";

const City = z.object({ city: z.string() });

/** `@openai/agents`, whose model speaks Responses. */
export async function openaiAgents(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  setTracingDisabled(true);
  const modelProvider = new OpenAIProvider({ apiKey: key, baseURL: `${address}/v1` });
  const runner = new Runner({ modelProvider });
  let asked: string | undefined;
  const weather = tool({
    name: "weather",
    description: "The weather of a city.",
    parameters: City,
    execute: ({ city }) => (asked = city, "Rain"),
  });

  await t.step("agents: an agent answers, uses a tool, and streams", async () => {
    const plain = new Agent({ name: "Plain", instructions: "Be brief.", model });
    const said = await runner.run(plain, "Say something about tides.");
    assert.ok(said.finalOutput!.length > 0);
    const handy = new Agent({ name: "Handy", instructions: "Be brief.", model, tools: [weather] });
    const done = await runner.run(handy, "Use weather for Oslo.", { maxTurns: 4 });
    assert.equal(typeof asked, "string");
    assert.match(done.finalOutput!, /Rain/);
    const streamed = await runner.run(handy, "Use weather for Oslo.", {
      stream: true,
      maxTurns: 4,
    });
    let events = 0;
    for await (const _ of streamed) events++;
    await streamed.completed;
    assert.ok(events > 5);
  });

  await t.step("agents: structured output, abort and errors", async () => {
    const typed = new Agent({ name: "Typed", model, outputType: City });
    const { finalOutput } = await runner.run(typed, "Where?");
    assert.equal(typeof finalOutput!.city, "string");
    const plain = new Agent({ name: "Plain", model });
    await assert.rejects(runner.run(plain, "Hello", { signal: AbortSignal.abort() }));
    const lost = new Agent({ name: "Lost", model: "nothing" });
    await assert.rejects(
      runner.run(lost, "Hello"),
      (error: unknown) => (error as { status?: number }).status === 404,
    );
  });
}

/** LangChain with its Responses API. */
export async function langchainResponses(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const options = {
    model,
    apiKey: key,
    useResponsesApi: true,
    maxRetries: 0,
    configuration: { baseURL: `${address}/v1` },
  };
  const chat = new ChatOpenAI(options);
  const weather = langchainTool(({ city }) => `Rain in ${city}`, {
    name: "weather",
    description: "The weather of a city.",
    schema: City,
  });

  await t.step("langchain: chat, stream, tools and structured output", async () => {
    const said = await chat.invoke("Say something about tides.");
    assert.ok(said.text.length > 0);
    let streamed = "";
    for await (const piece of await chat.stream("Say something about tides.")) {
      streamed += piece.text;
    }
    assert.ok(streamed.length > 0);
    const handy = chat.bindTools([weather]);
    const question = new HumanMessage("Use weather for Oslo.");
    const first = await handy.invoke([question]);
    const [call] = first.tool_calls!;
    assert.equal(call!.name, "weather");
    const result = new ToolMessage({ content: "Rain", tool_call_id: call!.id! });
    const last = await handy.invoke([question, first, result]);
    assert.match(last.text, /Rain/);
    const object = await chat.withStructuredOutput(City).invoke("Where?");
    assert.equal(typeof object.city, "string");
  });

  await t.step("langchain: abort and errors", async () => {
    await assert.rejects(chat.invoke("Hello", { signal: AbortSignal.abort() }));
    await assert.rejects(
      new ChatOpenAI({ ...options, model: "nothing" }).invoke("Hello"),
      (error: unknown) => (error as { status?: number }).status === 404,
    );
  });
}

/** LlamaIndex with `OpenAIResponses`. */
export async function llamaindexResponses(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const options = { model, apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 };
  const llm = new OpenAIResponses(options as never);
  const messages = [{ role: "user" as const, content: "Say something about tides." }];

  await t.step("llamaindex: chat, stream and tools", async () => {
    const { message } = await llm.chat({ messages });
    assert.ok(String(message.content).length > 0);
    let streamed = "";
    for await (const piece of await llm.chat({ messages, stream: true })) streamed += piece.delta;
    assert.ok(streamed.length > 0);
    const weather = {
      call: () => "Rain",
      metadata: {
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
    const called = await llm.chat({
      messages: [{ role: "user", content: "Use weather for Oslo." }],
      tools: [weather as never],
    });
    const { toolCall } = called.message.options as { toolCall: { name: string }[] };
    assert.equal(toolCall[0]!.name, "weather");
  });

  await t.step("llamaindex: errors", async () => {
    const lost = new OpenAIResponses({ ...options, model: "nothing" } as never);
    await assert.rejects(
      lost.chat({ messages }),
      (error: unknown) => (error as { status?: number }).status === 404,
    );
  });
}
