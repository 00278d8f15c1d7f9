import assert from "node:assert/strict";
import { type RecordedReply, startFakeUpstream } from "../../test/helpers/fake_upstream.ts";
import { serveAndClose } from "../../test/helpers/closing_upstream.ts";
import { NotSent, type UpstreamRequest } from "./adapter.ts";
import { exchange } from "./exchange.ts";
import { Http1Client } from "./http1/client.ts";
import { readText } from "./read_whole.ts";
import { sleep } from "../lib/timers.ts";

const never = () => new AbortController().signal;
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

function asking(url: string, headers: Record<string, string> = {}): UpstreamRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  };
}

test("a response is the same from the HTTP/1 client and from fetch", async () => {
  await using upstream = startFakeUpstream({ pieceBytes: 7 });
  using http1 = new Http1Client();
  const { signal } = new AbortController();
  const replies: RecordedReply[] = [
    { status: 200, body: { text: "ü" } },
    { status: 200, events: [{ data: { n: 1 } }, ": comment", { event: "x", data: "[DONE]" }] },
    { status: 302, headers: { location: "/elsewhere" } },
    { status: 429, headers: { "retry-after": "7" }, text: "later" },
  ];
  for (const reply of replies) {
    upstream.answer(reply);
    const [own, fetched] = await Promise.all([http1, null].map(async (http1) => {
      const answer = await exchange(asking(upstream.url), { transport: undefined, http1 }, signal);
      const fields = ["content-type", "location", "retry-after"].map((name) =>
        answer.fields.get(name)
      );
      return { status: answer.status, fields, text: await readText(answer, 10_000) };
    }));
    assert.deepEqual(own, fetched);
    assert.equal(own!.status, reply.status);
  }
  const agents = upstream.seen.map(({ headers }) => headers.get("user-agent")!.split("/")[0]);
  assert.deepEqual(new Set(agents), new Set(["Tollgate", "Deno"]));
});

test("requests that our client cannot send go through fetch; a request to an unreachable server was not sent", async () => {
  await using upstream = startFakeUpstream();
  upstream.answer({ status: 200, text: "ok" });
  using http1 = new Http1Client();
  const carrier = { transport: undefined, http1 };
  const response = await exchange(asking(upstream.url, { "x-name": "ü" }), carrier, never());
  assert.equal(await readText(response, 100), "ok");
  await assert.rejects(exchange(asking("http://127.0.0.1:1/"), carrier, never()), NotSent);
});

test("all addresses of a host are tried before it counts as unreachable", async () => {
  await using upstream = startFakeUpstream();
  upstream.answer({ status: 200, text: "ok" });
  const url = new URL(upstream.url);
  let tries = 0;
  using http1 = new Http1Client({
    connect: ({ hostname, port }) =>
      tries++ === 0 ? Promise.reject(new Error("no route")) : Deno.connect({ hostname, port }),
    lookup: () => Promise.resolve(["::1", "127.0.0.1"]),
  });
  const carrier = { transport: undefined, http1 };
  const response = await exchange(asking(`http://twofold.example:${url.port}/`), carrier, never());
  assert.equal(await readText(response, 100), "ok");
  assert.equal(tries, 3);
});

test("a chat goes once to an upstream that accepts it and closes, by the HTTP/1 client and by fetch", async () => {
  using http1 = new Http1Client();
  for (const client of [http1, null]) {
    await using upstream = serveAndClose();
    const carrier = { transport: undefined, http1: client };
    const ask = () => exchange(asking(`http://127.0.0.1:${upstream.port}/`), carrier, never());
    await assert.rejects(ask());
    assert.equal(upstream.received, 1);
    upstream.answers = 1;
    assert.equal(await readText(await ask(), 100), "ok");
    await assert.rejects(ask());
    // What is sent again is sent within milliseconds.
    await sleep(100);
    assert.equal(upstream.received, 3);
  }
});

test("a body larger than allowed is not read on", async () => {
  await using upstream = startFakeUpstream();
  upstream.answer({ status: 200, text: "x".repeat(100_000) });
  using http1 = new Http1Client();
  for (const client of [http1, null]) {
    const carrier = { transport: undefined, http1: client };
    const response = await exchange(asking(upstream.url), carrier, never());
    await assert.rejects(readText(response, 50_000), { kind: "unreadable" });
  }
});
