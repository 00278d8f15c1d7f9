/** What every gateway of the chat benchmark stands in front of: prepared answers, as quick as can be. */
const EVENTS = 100;
const encoder = new TextEncoder();
const words = "The quick brown fox jumps over the lazy dog and comes back again to see what it was"
  .split(" ");
const base = { id: "chatcmpl-1", created: 1700000000, model: "bench" };
const usage = { prompt_tokens: 12, completion_tokens: EVENTS, total_tokens: EVENTS + 12 };

const whole = encoder.encode(JSON.stringify({
  ...base,
  object: "chat.completion",
  choices: [{
    index: 0,
    message: {
      role: "assistant",
      content: Array.from({ length: EVENTS }, (_, at) => words[at % words.length]).join(" "),
    },
    logprobs: null,
    finish_reason: "stop",
  }],
  usage,
}));

const event = (choices: unknown[], more = {}) =>
  encoder.encode(
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`,
  );
const events = [
  event([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]),
  ...Array.from(
    { length: EVENTS - 2 },
    (_, at) =>
      event([{
        index: 0,
        delta: { content: ` ${words[at % words.length]}` },
        finish_reason: null,
      }]),
  ),
  event([{ index: 0, delta: {}, finish_reason: "stop" }]),
  event([], { usage }),
  encoder.encode("data: [DONE]\n\n"),
];

function stream(): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(events[at++]!);
      if (at === events.length) controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")), onListen() {} },
  async (request) => {
    if (request.method === "GET") return new Response("ok");
    const isStream = (await request.text()).includes('"stream":true');
    return isStream
      ? stream()
      : new Response(whole, { headers: { "content-type": "application/json" } });
  },
);
