import assert from "node:assert/strict";
import type { Adapter, ChatAdapter } from "./adapter.ts";
import { type Attempt, callChatStream, type WrittenChat } from "./call_chat.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Reads one event, which is the whole answer. */
const chat: ChatAdapter = {
  write: () => {
    throw new Error("is written already");
  },
  read: () => ({ choices: [], usage: null }),
  reader: () => ({ next: () => ({ choices: [], done: true }) }),
  fault: () => ({ kind: "failed" }),
};

const WRITTEN: WrittenChat = {
  ignored: [],
  target: { model: "m", baseUrl: "http://provider.test", apiKey: null, headers: {} },
  original: { model: "m", messages: [] },
  request: { method: "POST", url: "http://provider.test/chat", headers: {}, body: "{}" },
};

function attemptOn(transport: Adapter["transport"], timeoutMs: number): Attempt {
  return {
    upstream: {
      provider: "p",
      model: "m",
      priority: 0,
      weight: 1,
      timeoutSeconds: 1,
      cost: null,
    } as Attempt["upstream"],
    adapter: { types: ["chat"], baseUrl: null, chat, transport: transport! },
    http1: null,
    callIds: null,
    seals: null,
    timeoutMs,
    signal: new AbortController().signal,
  };
}

Deno.test(
  "an upstream that leaves the connection open after the last event is not waited for longer than its timeout",
  STRICT,
  async () => {
    const closed = Promise.withResolvers<void>();
    const attempt = attemptOn((request) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("data: {}\n\n"));
          request.signal.addEventListener("abort", () => {
            controller.error(request.signal.reason);
            closed.resolve();
          });
        },
      });
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(body, { headers }));
    }, 80);
    const { rest } = await callChatStream(attempt, WRITTEN);
    assert.equal(await rest.next(), null);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => late.reject(new Error("is still open")), 2_000);
    await Promise.race([closed.promise, late.promise]);
    clearTimeout(timer);
  },
);
