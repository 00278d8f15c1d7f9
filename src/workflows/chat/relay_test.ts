import assert from "node:assert/strict";
import type { ChatChunk } from "../../upstream/adapter.ts";
import type { ChunkStream } from "../../upstream/call_chat.ts";
import { relay } from "./relay.ts";
import type { AnswerWriter } from "./dialect.ts";
import { sleep } from "../../lib/timers.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const chunk = (content: string): ChatChunk => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

const WRITER: AnswerWriter = {
  heartbeat: ": still here\n\n",
  chunk: ({ choices }) => `data: ${JSON.stringify(choices)}\n\n`,
  end: () => "",
  fail: () => "",
};

/** A stream that says words when told to, and what the relay made of it. */
function open(onDisconnect: "stop" | "drain" = "stop", unreadMs = 60_000) {
  const deadline = new AbortController();
  const told: string[] = [];
  const words: (readonly ChatChunk[] | null | Error)[] = [];
  let waiting: PromiseWithResolvers<void> | null = null;
  let isCancelled = false;
  let reads = 0;
  const rest: ChunkStream = {
    async next() {
      reads++;
      while (words.length === 0) {
        if (isCancelled) throw new Error("cancelled");
        waiting = Promise.withResolvers();
        await waiting.promise;
      }
      const word = words.shift()!;
      if (word instanceof Error) throw word;
      return word;
    },
    cancel() {
      isCancelled = true;
      waiting?.resolve();
    },
  };
  const stream = relay({
    first: [chunk("first")],
    rest,
    writer: WRITER,
    onChunk() {},
    onEnd: () => (told.push("end"), Promise.resolve("data: [DONE]\n\n")),
    onFailure: () => (told.push("failure"), Promise.resolve("data: failed\n\n")),
    onDisconnect: () => (told.push("leave"), onDisconnect === "drain"),
    deadline: deadline.signal,
    unread: { ms: unreadMs, event: () => "data: unread\n\n" },
  });
  return {
    told,
    stream,
    deadline,
    reads: () => reads,
    get reader() {
      return stream.pipeThrough(new TextDecoderStream()).getReader();
    },
    say(...more: typeof words) {
      words.push(...more);
      waiting?.resolve();
    },
  };
}

const settled = () => sleep(20);

Deno.test("the first words leave before anything else has come", STRICT, async () => {
  const { reader, say, told } = open();
  assert.match((await reader.read()).value!, /first/);
  say(null);
  assert.match((await reader.read()).value!, /\[DONE\]/);
  assert.equal((await reader.read()).done, true);
  assert.deepEqual(told, ["end"]);
});

Deno.test("a burst leaves in few pieces, whole and in order", STRICT, async () => {
  const { reader, say } = open();
  await reader.read();
  say(...Array.from({ length: 500 }, (_, n) => [chunk(`<${n}>`)]), null);
  let text = "";
  let pieces = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += read.value;
    pieces++;
  }
  const order = [...text.matchAll(/<(\d+)>/g)].map(([, n]) => Number(n));
  assert.deepEqual(order, Array.from({ length: 500 }, (_, n) => n));
  assert.ok(pieces < 50, `${pieces} pieces`);
});

Deno.test("a client that takes nothing stops the reading", STRICT, async () => {
  const { reader, say, reads, told } = open();
  await reader.read();
  say(...Array.from({ length: 1_000 }, () => [chunk("x".repeat(1_000))]));
  await settled();
  assert.ok(reads() < 300, `${reads()} reads`);
  await reader.cancel();
  await settled();
  assert.deepEqual(told, ["leave"]);
});

Deno.test("a client that leaves is told of once, and the upstream stopped", STRICT, async () => {
  const { reader, told } = open();
  await reader.read();
  await reader.cancel();
  await settled();
  assert.deepEqual(told, ["leave"]);
});

Deno.test("without its client a stream may go on to its end", STRICT, async () => {
  const { reader, say, told } = open("drain");
  await reader.read();
  await reader.cancel();
  say(...Array.from({ length: 200 }, () => [chunk("x".repeat(1_000))]), null);
  await settled();
  assert.deepEqual(told, ["leave", "end"]);
});

Deno.test("a failure ends the stream with its event", STRICT, async () => {
  const { reader, say, told } = open();
  await reader.read();
  say([chunk("more")], new Error("cut"));
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  assert.match(text, /more/);
  assert.ok(text.endsWith("data: failed\n\n"));
  assert.deepEqual(told, ["failure"]);
});

Deno.test("a client that leaves words unread for too long counts as gone", STRICT, async () => {
  const { stream, say, told } = open("stop", 60);
  const reader = stream.getReader();
  await reader.read();
  say([chunk("unread")]);
  await sleep(200);
  assert.deepEqual(told, ["leave"]);
  assert.equal(new TextDecoder().decode((await reader.read()).value), "data: unread\n\n");
  assert.equal((await reader.read()).done, true);
});

Deno.test(
  "a client that waits for words is not given up, however long none come",
  STRICT,
  async () => {
    const { stream, say, told } = open("stop", 60);
    const reader = stream.getReader();
    await reader.read();
    const reading = reader.read();
    await sleep(200);
    assert.deepEqual(told, []);
    say([chunk("late")]);
    assert.match(new TextDecoder().decode((await reading).value), /late/);
    await reader.cancel();
  },
);
