import type { Entry } from "./client_records.ts";

/** How long a client waits for an answer to begin, and for all of it. A paused node may be behind either. */
const BEGIN_MS = 20_000;
const WHOLE_MS = 150_000;

export interface Sent {
  address: string;
  path: string;
  key: string;
  /** JSON, or a form. */
  body: unknown;
  idempotencyKey?: string;
  /** Leaves after so many events of a stream. */
  leaveAfter?: number;
}

/**
 * Sends one request and notes in its entry how it ended. The body is a stream: the runtime sends one of
 * these only once, and the records would be wrong if it repeated a request by itself.
 */
export async function send(entry: Entry, sent: Sent, over: AbortSignal): Promise<void> {
  entry.attempts++;
  entry.status = null;
  entry.end = "unknown";
  const leaving = new AbortController();
  const timers = [setTimeout(() => leaving.abort(), WHOLE_MS)];
  const begin = setTimeout(() => leaving.abort(), BEGIN_MS);
  timers.push(begin);
  const isForm = sent.body instanceof FormData;
  try {
    const res = await fetch(sent.address + sent.path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${sent.key}`,
        "x-client-request-id": entry.id,
        ...(isForm ? {} : { "content-type": "application/json" }),
        ...(sent.idempotencyKey === undefined ? {} : { "idempotency-key": sent.idempotencyKey }),
      },
      body: isForm
        ? sent.body as FormData
        : ReadableStream.from([new TextEncoder().encode(JSON.stringify(sent.body))]),
      signal: AbortSignal.any([leaving.signal, over]),
    });
    clearTimeout(begin);
    entry.status = res.status;
    entry.requestId = res.headers.get("x-request-id");
    await readAnswer(entry, res, sent.leaveAfter);
  } catch {
    // A stream that told its end has ended, whatever becomes of its connection.
    if (entry.end === "unknown") {
      const isGone = leaving.signal.aborted || over.aborted;
      entry.end = isGone ? "left" : entry.status === null ? "unknown" : "broken";
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
  if (isUncertain(entry)) entry.uncertain++;
}

/** Whether the client cannot know what its request has done. */
const isUncertain = ({ status, end }: Entry) =>
  status === null || status >= 500 || end === "broken" || end === "left";

async function readAnswer(entry: Entry, res: Response, leaveAfter?: number): Promise<void> {
  entry.code = null;
  if (res.status >= 400) {
    const { error } = await res.json();
    entry.code = error?.code ?? null;
    entry.end = "refused";
    return;
  }
  if (entry.kind === "stream") return await readStream(entry, res, leaveAfter);
  if (entry.kind === "speech") {
    const announced = res.headers.get("content-length");
    const { length } = await res.bytes();
    entry.end = announced === null || Number(announced) === length ? "complete" : "broken";
    return;
  }
  const answer = await res.json();
  entry.end = "complete";
  if (entry.kind === "chat") readUsage(entry, answer.usage);
  if (entry.kind === "image" || entry.kind === "video") entry.tasks.add(answer.id);
  if (entry.kind === "upload") entry.file!.id = answer.id;
}

async function readStream(entry: Entry, res: Response, leaveAfter = Infinity): Promise<void> {
  let text = "";
  for await (const piece of res.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const data = line.slice(6);
      if (data === "[DONE]") {
        entry.end = "complete";
        continue;
      }
      const event = JSON.parse(data);
      if (event.error !== undefined) {
        entry.end = "failed";
        entry.code = event.error.code;
      }
      if (event.usage) readUsage(entry, event.usage);
      if (event.choices?.[0]?.delta?.content) entry.pieces++;
    }
    if (entry.pieces >= leaveAfter) {
      entry.end = "left";
      // Leaving the loop cancels the body, and that closes the connection.
      return;
    }
  }
  if (entry.end === "unknown") entry.end = "silent";
}

function readUsage(
  entry: Entry,
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    prompt_tokens_details?: { cached_tokens?: number };
  },
): void {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  entry.tokens = {
    input: usage.prompt_tokens - cached,
    cached,
    output: usage.completion_tokens,
  };
}
