import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import type { ChatService } from "./chat_suite.ts";

const WEATHER = {
  name: "weather",
  description: "The weather of a city.",
  input_schema: {
    type: "object" as const,
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
const PLACE = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** The official Anthropic package: everything people use of it for conversations. */
export async function anthropicPackage(
  t: Deno.TestContext,
  { address, key, model }: ChatService,
): Promise<void> {
  const client = new Anthropic({ apiKey: key, baseURL: address, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Say something about tides." }];
  const max_tokens = 300;

  await t.step("anthropic: a whole answer", async () => {
    const message = await client.messages.create({ model, max_tokens, messages });
    const [first] = message.content;
    assert.ok(first?.type === "text" && first.text.length > 0);
    assert.equal(message.model, model);
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
    assert.match(message._request_id ?? "", /^req_/);
  });

  await t.step("anthropic: the stream helper gathers a final message", async () => {
    const stream = client.messages.stream({ model, max_tokens, messages });
    let text = "";
    stream.on("text", (piece) => text += piece);
    const message = await stream.finalMessage();
    assert.ok(text.length > 0);
    assert.equal(await stream.finalText(), text);
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
    assert.ok(message.stop_reason === "end_turn" || message.stop_reason === "max_tokens");
  });

  await t.step("anthropic: a tool is called and its result understood", async () => {
    const asked = { role: "user" as const, content: "Use weather for Oslo." };
    const common = { model, max_tokens, tools: [WEATHER] };
    const tool_choice = { type: "any" as const };
    const first = await client.messages.stream({ ...common, tool_choice, messages: [asked] })
      .finalMessage();
    const call = first.content.find((block) => block.type === "tool_use")!;
    assert.equal(call.name, "weather");
    assert.equal(typeof (call.input as { city: unknown }).city, "string");
    assert.equal(first.stop_reason, "tool_use");
    const second = await client.messages.create({
      ...common,
      messages: [asked, { role: "assistant", content: first.content }, {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: call.id, content: '{"degrees":7}' }],
      }],
    });
    assert.ok(second.content.some((block) => block.type === "text" && block.text.length > 0));
  });

  await t.step("anthropic: parse gives an object for a schema", async () => {
    const parsed = await client.messages.parse({
      model,
      max_tokens,
      messages,
      output_config: { format: { type: "json_schema", schema: PLACE } },
    });
    const [first] = parsed.content;
    assert.ok(first?.type === "text");
    assert.equal(typeof JSON.parse(first.text).city, "string");
  });

  await t.step("anthropic: tokens are counted", async () => {
    const { input_tokens } = await client.messages.countTokens({ model, messages });
    assert.ok(input_tokens > 0);
  });

  await t.step("anthropic: abort ends a stream", async () => {
    const stream = client.messages.stream({ model, max_tokens, messages });
    stream.on("text", () => stream.abort());
    await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  });

  await t.step("anthropic: typed errors", async () => {
    await assert.rejects(
      client.messages.create({ model: "nothing", max_tokens, messages }),
      Anthropic.NotFoundError,
    );
    await assert.rejects(
      client.messages.create({ model, max_tokens, messages: [] }),
      Anthropic.BadRequestError,
    );
    const stranger = new Anthropic({ apiKey: "sk-no", baseURL: address, maxRetries: 0 });
    await assert.rejects(
      stranger.messages.create({ model, max_tokens, messages }),
      (error: unknown) =>
        error instanceof Anthropic.AuthenticationError &&
        (error.error as { error?: { type?: string } }).error?.type === "authentication_error",
    );
  });
}
