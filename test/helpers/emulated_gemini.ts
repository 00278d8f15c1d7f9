import type { Json } from "./chat_gateway.ts";
import { EMULATED_KEY, type Wire } from "./emulated_provider.ts";

const FINISH_REASONS: Record<string, string> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
};

/** `generateContent`, whole and streamed. */
export const GEMINI: Wire = {
  isAuthorized: (headers) => headers.get("x-goog-api-key") === EMULATED_KEY,
  read(url, body) {
    const method = /^\/v1\/models\/[\w.-]+:(generateContent|streamGenerateContent)$/.exec(
      url.pathname,
    );
    return method === null ? null : request(body, method[1] === "streamGenerateContent");
  },
  write: ({ choices, usage }) => ({
    candidates: choices.map((choice: Json) => ({
      index: choice.index,
      content: { role: "model", parts: parts(choice.message) },
      finishReason: FINISH_REASONS[choice.finish_reason],
    })),
    usageMetadata: counts(usage),
    responseId: "r1",
  }),
  writer,
};

function request(body: Json, stream: boolean): Json {
  const messages: Json[] = [];
  if (body.systemInstruction) {
    messages.push({ role: "system", content: body.systemInstruction.parts[0].text });
  }
  for (const { role, parts } of body.contents) {
    const words = parts.map((part: Json) => part.text ?? "").join("");
    const calls = parts.filter((part: Json) => part.functionCall);
    for (const { functionResponse } of parts) {
      if (!functionResponse) continue;
      messages.push({
        role: "tool",
        tool_call_id: functionResponse.id,
        content: JSON.stringify(functionResponse.response),
      });
    }
    if (words === "" && calls.length === 0) continue;
    messages.push({
      role: role === "model" ? "assistant" : "user",
      content: words,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ functionCall }: Json) => ({
          id: functionCall.id,
          type: "function",
          function: { name: functionCall.name, arguments: JSON.stringify(functionCall.args) },
        })),
      }),
    });
  }
  const functions = body.tools?.[0]?.functionDeclarations;
  const schema = body.generationConfig?.responseJsonSchema;
  return {
    messages,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    ...(functions && {
      tools: functions.map((tool: Json) => ({
        type: "function",
        function: {
          name: tool.name,
          description: tool.description,
          parameters: tool.parametersJsonSchema,
        },
      })),
      tool_choice: body.toolConfig?.functionCallingConfig?.mode === "ANY" ? "required" : "auto",
    }),
    ...(schema && {
      response_format: { type: "json_schema", json_schema: { name: "asked", schema } },
    }),
  };
}

function parts(message: Json): Json[] {
  return [
    ...(message.content ? [{ text: message.content }] : []),
    ...(message.tool_calls ?? []).map((call: Json) => ({
      functionCall: {
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments),
      },
    })),
  ];
}

function counts(usage: Json): Json {
  return {
    promptTokenCount: usage.prompt_tokens,
    candidatesTokenCount: usage.completion_tokens,
    totalTokenCount: usage.total_tokens,
  };
}

/** Calls are never cut in pieces here: they are gathered, and sent with the end. */
function writer(): ReturnType<Wire["writer"]> {
  const calls: Json[] = [];
  let ending: string | null = null;
  let usage: Json = null;
  const event = (body: Json) => `data: ${JSON.stringify({ ...body, responseId: "r1" })}\r\n\r\n`;
  return (chunk) => {
    if (chunk === "[DONE]") {
      const content = { role: "model", parts: parts({ tool_calls: calls }) };
      return event({
        candidates: [{ index: 0, content, finishReason: FINISH_REASONS[ending ?? "stop"] }],
        usageMetadata: counts(usage),
      });
    }
    usage = chunk.usage ?? usage;
    const choice = chunk.choices[0];
    ending = choice?.finish_reason ?? ending;
    for (const { index, id, function: called } of choice?.delta.tool_calls ?? []) {
      calls[index] ??= { id, function: { name: called.name, arguments: "" } };
      calls[index].function.arguments += called?.arguments ?? "";
    }
    if (!choice?.delta.content) return "";
    const content = { role: "model", parts: [{ text: choice.delta.content }] };
    return event({ candidates: [{ index: 0, content }] });
  };
}
