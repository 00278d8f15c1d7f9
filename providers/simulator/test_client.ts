import { openSimulator, type Simulator } from "./simulator.ts";

/** The parts of an answer that tests check, from a whole response or a stream. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly finish: string | null;
  // deno-lint-ignore no-explicit-any
  readonly usage: any;
}

// deno-lint-ignore no-explicit-any
type Json = any;

export const STRICT = { sanitizeOps: true, sanitizeResources: true };

export const user = (content: unknown) => [{ role: "user", content }];

export function requestOf(body: unknown, init: RequestInit = {}): Request {
  return new Request("http://simulator.invalid/v1/chat/completions", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

/** Sends a request, with `chat` as its model unless it names one. */
export function send(
  body: Record<string, unknown>,
  { simulator = openSimulator(), ...init }: RequestInit & { simulator?: Simulator } = {},
): Promise<Response> {
  return simulator.transport(requestOf({ model: "chat", ...body }, init));
}

export async function sendWhole(
  body: Record<string, unknown>,
  init?: Parameters<typeof send>[1],
): Promise<Json> {
  return await (await send(body, init)).json();
}

/** The data of every event of a stream; those that are JSON are parsed. */
export async function sendStream(
  body: Record<string, unknown>,
  init?: Parameters<typeof send>[1],
): Promise<Json[]> {
  return eventsOf(await (await send({ ...body, stream: true }, init)).text());
}

export function eventsOf(text: string): Json[] {
  return text.split(/\r?\n\r?\n/).filter((event) => event.includes("data:")).map((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data: "));
    const data = lines.map((line) => line.slice(6)).join("\n");
    try {
      return JSON.parse(data);
    } catch {
      return data;
    }
  });
}

export function answerOf(whole: Json, index = 0): Answer {
  const { message, finish_reason } = whole.choices[index];
  return {
    text: message.content ?? "",
    reasoning: message.reasoning_content ?? "",
    calls: (message.tool_calls ?? []).map((call: Json) => ({ id: call.id, ...call.function })),
    finish: finish_reason,
    usage: whole.usage,
  };
}

/** The answer of a whole stream. */
export function gather(events: Json[], index = 0): Answer {
  let [text, reasoning] = ["", ""];
  let finish: string | null = null;
  let usage;
  const calls: Answer["calls"] = [];
  for (const event of events) {
    usage = event.usage ?? usage;
    for (const choice of event.choices ?? []) {
      if (choice.index !== index) continue;
      text += choice.delta.content ?? "";
      reasoning += choice.delta.reasoning_content ?? "";
      finish = choice.finish_reason ?? finish;
      for (const { index: at, id, function: called } of choice.delta.tool_calls ?? []) {
        calls[at] ??= { id, name: called.name, arguments: "" };
        calls[at].arguments += called.arguments;
      }
    }
  }
  return { text, reasoning, calls, finish, usage };
}
