import type { Json } from "./chat_gateway.ts";
import { EMULATED_KEY, type Wire } from "./emulated_provider.ts";

const STOP_REASONS: Record<string, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
};

/** The Messages API. */
export const ANTHROPIC: Wire = {
  isAuthorized: (headers) =>
    headers.get("x-api-key") === EMULATED_KEY && headers.has("anthropic-version"),
  read: (url, body) => url.pathname === "/v1/messages" ? request(body) : null,
  write: (completion) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "emulated",
    content: blocks(completion.choices[0].message),
    stop_reason: STOP_REASONS[completion.choices[0].finish_reason],
    stop_sequence: null,
    usage: usage(completion.usage),
  }),
  writer,
};

function request(body: Json): Json {
  const messages: Json[] = [];
  if (body.system !== undefined) messages.push({ role: "system", content: body.system });
  for (const { role, content } of body.messages) {
    const texts = content.filter((block: Json) => block.type === "text");
    const calls = content.filter((block: Json) => block.type === "tool_use");
    for (const block of content) {
      if (block.type !== "tool_result") continue;
      const words = block.content.map((part: Json) => part.text ?? "").join("");
      messages.push({ role: "tool", tool_call_id: block.tool_use_id, content: words });
    }
    if (texts.length + calls.length === 0) continue;
    messages.push({
      role,
      content: texts.map((block: Json) => block.text).join(""),
      ...(calls.length > 0 && {
        tool_calls: calls.map((block: Json) => ({
          id: block.id,
          type: "function",
          function: { name: block.name, arguments: JSON.stringify(block.input) },
        })),
      }),
    });
  }
  const schema = body.output_config?.format?.schema;
  return {
    messages,
    stream: body.stream,
    ...(body.stream && { stream_options: { include_usage: true } }),
    max_tokens: body.max_tokens,
    ...(body.tools && {
      tools: body.tools.map((tool: Json) => ({
        type: "function",
        function: {
          name: tool.name,
          description: tool.description,
          parameters: tool.input_schema,
        },
      })),
      tool_choice: body.tool_choice?.type === "any" ? "required" : "auto",
    }),
    ...(schema && {
      response_format: { type: "json_schema", json_schema: { name: "asked", schema } },
    }),
  };
}

function blocks(message: Json): Json[] {
  return [
    ...(message.content ? [{ type: "text", text: message.content }] : []),
    ...(message.tool_calls ?? []).map((call: Json) => ({
      type: "tool_use",
      id: call.id,
      name: call.function.name,
      input: JSON.parse(call.function.arguments),
    })),
  ];
}

function usage(counts: Json): Json {
  return { input_tokens: counts.prompt_tokens, output_tokens: counts.completion_tokens };
}

function writer(): ReturnType<Wire["writer"]> {
  let open: { index: number; call: number | null } | null = null;
  let next = 0;
  let started = false;
  let ending: string | null = null;
  let counts: Json = null;
  const event = (type: string, more: Json = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const close = () => {
    const text = open === null ? "" : event("content_block_stop", { index: open.index });
    open = null;
    return text;
  };
  const begin = (call: number | null, block: Json) => {
    const text = close();
    open = { index: next++, call };
    return text + event("content_block_start", { index: open.index, content_block: block });
  };
  const grow = (delta: Json) => event("content_block_delta", { index: open!.index, delta });

  return (chunk) => {
    if (chunk === "[DONE]") {
      return close() + event("message_delta", {
        delta: { stop_reason: STOP_REASONS[ending ?? "stop"], stop_sequence: null },
        usage: usage(counts),
      }) + event("message_stop");
    }
    let text = "";
    if (!started) {
      started = true;
      const message = { id: "msg_1", role: "assistant", content: [], usage: { input_tokens: 1 } };
      text += event("message_start", { message }) + event("ping");
    }
    counts = chunk.usage ?? counts;
    const choice = chunk.choices[0];
    ending = choice?.finish_reason ?? ending;
    if (choice?.delta.content) {
      if (open?.call !== null) text += begin(null, { type: "text", text: "" });
      text += grow({ type: "text_delta", text: choice.delta.content });
    }
    for (const call of choice?.delta.tool_calls ?? []) {
      if (open?.call !== call.index) {
        const { name } = call.function;
        text += begin(call.index, { type: "tool_use", id: call.id, name, input: {} });
      }
      const piece = call.function?.arguments ?? "";
      if (piece !== "") text += grow({ type: "input_json_delta", partial_json: piece });
    }
    return text;
  };
}
