import assert from "node:assert/strict";
import { EventSplitter } from "../../src/upstream/event_stream.ts";
import { openSimulator } from "./simulator.ts";
import {
  answerOf,
  eventsOf,
  gather,
  send,
  sendStream,
  sendWhole,
  STRICT,
  user,
} from "./test_client.ts";
import { tokenize } from "./tokens.ts";

const told = (directives: string) => ({
  messages: user(`How do tides work? [[simulate: ${directives}]]`),
});
const streamed = (directives: string) => ({ ...told(directives), stream: true });
const PROSE = answerOf(await sendWhole({ messages: user("How do tides work?") })).text;

/** Reads a body until it ends or breaks. */
async function readUp(response: Response): Promise<{ text: string; broke: unknown }> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
    return { text, broke: null };
  } catch (broke) {
    return { text, broke };
  }
}

Deno.test("a status is answered with OpenAI's error for it", STRICT, async () => {
  const expected: [number, string, string | null][] = [
    [400, "invalid_request_error", null],
    [401, "invalid_request_error", "invalid_api_key"],
    [429, "requests", "rate_limit_exceeded"],
    [500, "server_error", null],
    [503, "service_unavailable", null],
  ];
  for (const [status, type, code] of expected) {
    const response = await send(streamed(`status=${status}`));
    assert.equal(response.status, status);
    assert.equal(response.headers.get("retry-after"), status === 429 ? "1" : null);
    const { error } = await response.json();
    assert.deepEqual([error.type, error.code], [type, code]);
  }
  const later = await send(told("status=503 retry_after=7"));
  assert.equal(later.headers.get("retry-after"), "7");
  await later.body!.cancel();
});

Deno.test(
  "directives come from the header, the message, or for good; the message wins",
  STRICT,
  async () => {
    const headers = { "x-simulate": "status=503" };
    const statusOf = async (...args: Parameters<typeof send>) => {
      const response = await send(...args);
      await response.body!.cancel();
      return response.status;
    };
    assert.equal(await statusOf({ messages: user("Hello") }, { headers }), 503);
    assert.equal(await statusOf(told("status=429"), { headers }), 429);
    const simulator = openSimulator({ defaults: "status=500" });
    assert.equal(await statusOf({ messages: user("Hello") }, { simulator }), 500);
    assert.equal(await statusOf({ messages: user("Hello") }, { simulator, headers }), 503);
    const strict = { headers: { "x-simulate": "directives=off" } };
    assert.equal(await statusOf(told("status=500"), strict), 200);
    assert.equal(await statusOf(told("dance")), 400);
  },
);

Deno.test("only directives in the last message of the user are obeyed", STRICT, async () => {
  const messages = [
    ...told("status=500").messages,
    { role: "assistant", content: "x" },
    ...user("Hi"),
  ];
  assert.equal(answerOf(await sendWhole({ messages })).finish, "stop");
});

Deno.test("the first requests of a name fail, then the next are served", STRICT, async () => {
  const simulator = openSimulator();
  const statuses = async (directives: string, count: number) => {
    const seen: number[] = [];
    for (let at = 0; at < count; at++) {
      const response = await send(told(directives), { simulator });
      await response.body!.cancel();
      seen.push(response.status);
    }
    return seen;
  };
  assert.deepEqual(await statuses("fail=2 name=a", 4), [500, 500, 200, 200]);
  assert.deepEqual(await statuses("fail name=b status=429", 3), [429, 200, 200]);
  assert.deepEqual(await statuses("fail=2 name=a", 1), [200]);
  const cut = () => send(streamed("fail name=c cut=1"), { simulator }).then(readUp);
  assert.notEqual((await cut()).broke, null);
  assert.equal((await cut()).broke, null);
});

Deno.test("a connection breaks, or ends too early, after so many events", STRICT, async () => {
  const cut = await readUp(await send(streamed("cut=4")));
  assert.ok(cut.broke instanceof TypeError);
  assert.equal(eventsOf(cut.text).length, 4);
  const early = await readUp(await send(streamed("truncate=4")));
  assert.equal(early.broke, null);
  assert.equal(eventsOf(early.text).length, 4);
  const whole = await readUp(await send(told("cut")));
  assert.ok(whole.broke instanceof TypeError);
  assert.match(whole.text, /^\{"id":/);
  assert.throws(() => JSON.parse(whole.text));
  await assert.rejects(async () => (await send(told("truncate"))).json(), SyntaxError);
});

Deno.test("a refused connection is no answer at all", STRICT, async () => {
  await assert.rejects(send(told("refuse")), TypeError);
});

Deno.test("garbage comes in the middle, and then the rest", STRICT, async () => {
  const events = await sendStream(told("garbage=2"));
  assert.equal(typeof events[2], "string");
  assert.equal(gather(events.filter((event) => typeof event === "object")).text, PROSE);
  assert.equal(events.at(-1), "[DONE]");
  await assert.rejects(async () => (await send(told("garbage"))).json(), SyntaxError);
});

Deno.test("an error is reported in the middle, and that is the end", STRICT, async () => {
  const events = await sendStream(told("error=5"));
  assert.equal(events.length, 6);
  assert.equal(events[5].error.type, "server_error");
  assert.equal((await sendWhole(told("error"))).error.type, "server_error");
});

Deno.test("usage stays unsaid", STRICT, async () => {
  const events = await sendStream({ ...told("no_usage"), stream_options: { include_usage: true } });
  assert.equal(gather(events).usage, undefined);
  assert.equal(gather(events).text, PROSE);
  assert.equal("usage" in (await sendWhole(told("no_usage"))), false);
});

Deno.test("a wrong content type, or a page of another server", STRICT, async () => {
  const plain = await send(streamed("content_type=text/plain"));
  assert.equal(plain.headers.get("content-type"), "text/plain");
  assert.equal(gather(eventsOf(await plain.text())).text, PROSE);
  const page = await send(streamed("html status=502"));
  assert.deepEqual([page.status, page.headers.get("content-type")], [502, "text/html"]);
  assert.match(await page.text(), /<h1>/);
});

Deno.test("one token is huge, and counts as one", STRICT, async () => {
  const events = await sendStream({ ...told("huge"), stream_options: { include_usage: true } });
  const { text, usage } = gather(events);
  assert.equal(text.replace("o".repeat(1_000_000), ""), PROSE);
  assert.ok(usage.completion_tokens < 200);
});

Deno.test("events in every form that the format allows are the same events", STRICT, async () => {
  for (
    const directives of [
      "crlf",
      "multiline",
      "comments",
      "batch",
      "batch=7",
      "crlf multiline comments split",
    ]
  ) {
    for (const size of ["", " split=1"]) {
      const response = await send(streamed(`tokens=30 ${directives}${size}`));
      const splitter = new EventSplitter();
      const events: { data: string }[] = [];
      for await (const chunk of response.body!) events.push(...splitter.push(chunk));
      assert.equal(events.pop()!.data, "[DONE]");
      const { text } = gather(events.map(({ data }) => JSON.parse(data)));
      assert.equal(text, tokenize(PROSE).slice(0, 30).join(""), directives + size);
    }
  }
});

Deno.test("each form shows in the bytes", STRICT, async () => {
  const textOf = async (directives: string) => (await send(streamed(directives))).text();
  assert.match(await textOf("crlf"), /^data: \{.*\}\r\n\r\n/);
  assert.match(await textOf("multiline"), /^data: \{\ndata: +"id"/);
  assert.match(await textOf("comments"), /^: .+\n\ndata: /);
  const chunks = await Array.fromAsync((await send(streamed("split=1"))).body!);
  assert.ok(chunks.every((chunk) => chunk.length === 1));
  assert.ok(chunks.some(([byte]) => byte! > 127), "a character is split");
  assert.equal((await Array.fromAsync((await send(streamed("batch"))).body!)).length, 1);
});

Deno.test("latency comes before the answer, pace before each token", STRICT, async () => {
  const start = performance.now();
  const since = () => performance.now() - start;
  const response = await send(streamed("latency=60ms pace=10ms tokens=5"));
  assert.ok(since() >= 59, `${since()}`);
  await response.text();
  assert.ok(since() >= 109, `${since()}`);
  await (await send(told("pace=10ms tokens=6"))).text();
  assert.ok(since() >= 168, `${since()}`);
});
