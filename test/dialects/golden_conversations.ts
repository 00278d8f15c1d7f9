import type { Json } from "../helpers/chat_gateway.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const PDF = btoa("%PDF-1.7 one page");
const ephemeral = { type: "ephemeral" };
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** Requests of the Messages API, by what they are about. */
export const MESSAGES: Readonly<Record<string, Json>> = {
  "a question with instructions": {
    max_tokens: 100,
    system: "Be brief.",
    messages: [{ role: "user", content: "Why is the sky blue?" }],
    temperature: 0.5,
    top_k: 5,
    stop_sequences: ["END"],
  },
  "marks of the prompt cache": {
    max_tokens: 100,
    system: [{ type: "text", text: "Long rules.", cache_control: ephemeral }],
    messages: [{
      role: "user",
      content: [{ type: "text", text: "Go.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    }],
    tools: [{ name: "look", input_schema: schema, cache_control: ephemeral }],
  },
  "an image and a document": {
    max_tokens: 100,
    messages: [{
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
        {
          type: "document",
          title: "Notes",
          source: { type: "text", media_type: "text/plain", data: "A note." },
        },
        { type: "text", text: "What is it?" },
      ],
    }],
  },
  "tool calls with results, an image and a failure among them": {
    max_tokens: 100,
    tools: [{ name: "look", description: "Looks.", input_schema: schema }],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    messages: [
      { role: "user", content: "Look twice." },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "t1", name: "look", input: { city: "Oslo" } },
          { type: "tool_use", id: "t2", name: "look", input: { city: "Bonn" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [
              { type: "text", text: "A view." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
          { type: "tool_result", tool_use_id: "t2", content: "Closed.", is_error: true },
          { type: "text", text: "And?" },
        ],
      },
    ],
  },
  "thinking with its signature": {
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    messages: [
      { role: "user", content: "Think." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "sig" },
          { type: "redacted_thinking", data: "hidden" },
          { type: "text", text: "So." },
        ],
      },
      { role: "user", content: "Again." },
    ],
  },
  "an answer that fits a schema": {
    max_tokens: 100,
    messages: [{ role: "user", content: "Where?" }],
    output_config: { format: { type: "json_schema", schema } },
    stream: true,
  },
};

/** Requests of the Responses API. `{reasoning}` stands for reasoning that the gateway gave out. */
export const RESPONSES: Readonly<Record<string, Json>> = {
  "a question with instructions": {
    max_output_tokens: 100,
    instructions: "Be brief.",
    input: "Why is the sky blue?",
    temperature: 0.5,
  },
  "an image and a document": {
    input: [{
      role: "user",
      content: [
        { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "low" },
        { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
        { type: "input_text", text: "What is it?" },
      ],
    }],
  },
  "functions, custom tools and a group of tools": {
    tools: [
      { type: "function", name: "look", description: "Looks.", parameters: schema, strict: true },
      {
        type: "custom",
        name: "patch",
        description: "Changes files.",
        format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
      },
      {
        type: "namespace",
        name: "team",
        tools: [{ type: "function", name: "ask", parameters: schema }],
      },
    ],
    parallel_tool_calls: false,
    input: [
      { role: "developer", content: "Use tools." },
      { role: "user", content: "Go." },
      { type: "function_call", call_id: "c1", name: "look", arguments: '{"city":"Oslo"}' },
      { type: "custom_tool_call", call_id: "c2", name: "patch", input: "+ a line" },
      { type: "function_call", call_id: "c3", namespace: "team", name: "ask", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "A view." },
      { type: "custom_tool_call_output", call_id: "c2", output: "Done." },
      {
        type: "function_call_output",
        call_id: "c3",
        output: [
          { type: "input_text", text: "See:" },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
    ],
  },
  "reasoning that comes back": {
    reasoning: { effort: "medium", summary: "auto" },
    max_output_tokens: 4000,
    input: [
      { role: "user", content: "Think." },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "{reasoning}" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "So." }] },
      { role: "user", content: "Again." },
    ],
  },
  "an answer that fits a schema": {
    input: "Where?",
    text: { format: { type: "json_schema", name: "place", schema, strict: true } },
    stream: true,
  },
};

/** Answers of the engine, for the way back. */
export const ANSWERS: Readonly<Record<string, Json>> = {
  "text": { message: { role: "assistant", content: "Scattering." }, finish_reason: "stop" },
  "a refusal": {
    message: { role: "assistant", content: null, refusal: "No." },
    finish_reason: "content_filter",
  },
  "text up to a stop sequence": {
    message: { role: "assistant", content: "One" },
    finish_reason: "stop",
    stopSequence: "END",
  },
  "text that is too long": {
    message: { role: "assistant", content: "And then" },
    finish_reason: "length",
  },
  "reasoning in the open, then calls": {
    message: {
      role: "assistant",
      content: "Looking.",
      reasoning_content: "Two places.",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "look", arguments: '{"city":"Oslo"}' } },
        { id: "c2", type: "function", function: { name: "patch", arguments: '{"input":"+ a"}' } },
        { id: "c3", type: "function", function: { name: "team__ask", arguments: "{}" } },
      ],
    },
    finish_reason: "tool_calls",
  },
  "signed reasoning between texts": {
    message: {
      role: "assistant",
      content: "First.Second.",
      reasoning_content: "Hm.Aha.",
      parts: [
        { type: "thinking", thinking: "Hm.", signature: "s1" },
        { type: "redacted_thinking", data: "d1" },
        { type: "text", text: "First." },
        { type: "thinking", thinking: "Aha.", signature: "s2" },
        { type: "text", text: "Second." },
      ],
    },
    finish_reason: "stop",
  },
};
