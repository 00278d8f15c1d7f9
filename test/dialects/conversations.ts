import fc from "fast-check";
import type { Json } from "../helpers/chat_gateway.ts";

/** A conversation, whatever API it is written in. */
export interface Turn {
  /** What the user says, after the results of the calls before. */
  readonly said: string;
  readonly answer: string;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly result: string;
}

/** What stays of a conversation however it is written: who said what, in order. */
export type Trace = readonly (readonly [kind: string, ...values: unknown[]])[];

/** Text with characters that need care: escapes, several bytes, line ends, brackets. */
const text = fc.string({
  unit: fc.constantFrom(...'aZ 0é漢😀"\\\n\r\t{}[]:,\u2028\u0000'.match(/./gsu)!),
  minLength: 1,
  maxLength: 20,
}).filter((value) => value.trim() !== "");

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
const name = fc.constantFrom("read_file", "weather", "search");
const input = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(text, fc.integer(), fc.boolean()),
  {
    maxKeys: 3,
  },
).map((value) => ({ ...value }));

const turn: fc.Arbitrary<Turn> = fc.record({
  said: text,
  answer: fc.oneof(text, fc.constant("")),
  calls: fc.array(fc.record({ id, name, input, result: text }), { maxLength: 3 }),
}).filter(({ answer, calls }) => answer !== "" || calls.length > 0);

export const conversation: fc.Arbitrary<readonly Turn[]> = fc
  .array(turn, { minLength: 1, maxLength: 4 })
  .filter((turns) => {
    const ids = turns.flatMap(({ calls }) => calls.map((call) => call.id));
    return new Set(ids).size === ids.length;
  });

/** One answer, for the way back. */
export const answer: fc.Arbitrary<Turn> = turn;

export function traceOf(turns: readonly Turn[]): Trace {
  const trace: (readonly [string, ...unknown[]])[] = [];
  for (const { said, answer, calls } of turns) {
    trace.push(["user", said], ["assistant", answer]);
    for (const { id, name, input } of calls) trace.push(["call", id, name, input]);
    for (const { id, result } of calls) trace.push(["result", id, result]);
  }
  return joinTexts(trace);
}

/** Neighbouring texts of one speaker are one: no API promises where one ends. */
export function joinTexts(trace: Trace): Trace {
  const joined: [string, ...unknown[]][] = [];
  for (const [kind, ...values] of trace) {
    const last = joined.at(-1);
    const isText = kind === "user" || kind === "assistant";
    if (isText && values[0] === "") continue;
    if (isText && last?.[0] === kind) last[1] = `${last[1]}${values[0]}`;
    else joined.push([kind, ...values]);
  }
  return joined;
}

/** The conversation as a body of the Messages API. */
export function asMessages(turns: readonly Turn[]): Json {
  return {
    model: "m",
    max_tokens: 100,
    messages: turns.flatMap(({ said, answer, calls }) => [
      { role: "user", content: said },
      {
        role: "assistant",
        content: [
          ...(answer === "" ? [] : [{ type: "text", text: answer }]),
          ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
        ],
      },
      ...(calls.length === 0 ? [] : [{
        role: "user",
        content: calls.map(({ id, result }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: [{ type: "text", text: result }],
        })),
      }]),
    ]),
  };
}

/** The conversation as a body of the Responses API. */
export function asResponses(turns: readonly Turn[]): Json {
  return {
    model: "m",
    input: turns.flatMap(({ said, answer, calls }) => [
      { role: "user", content: [{ type: "input_text", text: said }] },
      ...(answer === "" ? [] : [{
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: answer, annotations: [] }],
      }]),
      ...calls.map(({ id, name, input }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(input),
      })),
      ...calls.map(({ id, result }) => ({
        type: "function_call_output",
        call_id: id,
        output: result,
      })),
    ]),
  };
}

/** What a provider was told, read from the body of its request. */
export const READ_SENT: Readonly<Record<string, (body: Json) => Trace>> = {
  anthropic: ({ messages }) =>
    messages.flatMap(({ role, content }: Json) =>
      content.map((block: Json) => {
        if (block.type === "text") return [role, block.text];
        if (block.type === "tool_use") return ["call", block.id, block.name, block.input];
        return ["result", block.tool_use_id, block.content.map(({ text }: Json) => text).join("")];
      })
    ),
  gemini: ({ contents }) =>
    contents.flatMap(({ role, parts }: Json) =>
      parts.map(({ text, functionCall, functionResponse }: Json) => {
        if (functionCall) return ["call", functionCall.id, functionCall.name, functionCall.args];
        if (functionResponse) {
          return ["result", functionResponse.id, outputOf(functionResponse.response)];
        }
        return [role === "model" ? "assistant" : role, text];
      })
    ),
  openai_compatible: ({ messages }) =>
    messages.flatMap(({ role, content, tool_calls, tool_call_id }: Json) => {
      const said = typeof content === "string"
        ? content
        : (content ?? []).map(({ text }: Json) => text).join("");
      if (role === "tool") return [["result", tool_call_id, said]];
      return [
        [role, said],
        ...(tool_calls ?? []).map((call: Json) => [
          "call",
          call.id,
          call.function.name,
          JSON.parse(call.function.arguments),
        ]),
      ];
    }),
};

/** A result that is a JSON object goes as it is, any other text as `output`. */
function outputOf(response: Json): string {
  return typeof response.output === "string" ? response.output : JSON.stringify(response);
}
