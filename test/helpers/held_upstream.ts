/** An OpenAI-compatible upstream that begins every answer, and ends it when it is told to. */
export interface HeldUpstream extends AsyncDisposable {
  readonly baseUrl: string;
  /** Calls so far. */
  calls(): number;
  /** Calls that are held and whose client has not left. */
  held(): number;
  /** Ends the calls that are held, and later ones at once. */
  letGo(): void;
}

const encoder = new TextEncoder();
const event = (data: unknown) =>
  encoder.encode(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});

export function startHeldUpstream(): HeldUpstream {
  const gate = Promise.withResolvers<void>();
  let [calls, held] = [0, 0];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    calls++;
    held++;
    let isOver = false;
    const over = () => {
      if (!isOver) held--;
      isOver = true;
    };
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(event(chunk({ role: "assistant", content: "Half" })));
        await gate.promise;
        if (isOver) return;
        over();
        controller.enqueue(event(chunk({ content: " whole" }, "stop")));
        const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
        controller.enqueue(event({ ...chunk({}), choices: [], usage }));
        controller.enqueue(event("[DONE]"));
        controller.close();
      },
      cancel: over,
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    calls: () => calls,
    held: () => held,
    letGo: () => gate.resolve(),
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await server.shutdown();
    },
  };
}

/** A configuration whose one model is at this upstream. */
export const heldConfig = (baseUrl: string) => `
providers: { up: { adapter: openai_compatible, base_url: "${baseUrl}" } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { max_output_tokens: 100 }
    upstreams: [{ provider: up, model: m, timeout_seconds: 60 }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
storage: { queue: postgres, sessions: postgres }
outbound: { allow_private: true }
`;
