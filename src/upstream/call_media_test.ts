import assert from "node:assert/strict";
import { startFakeUpstream } from "../../test/helpers/fake_upstream.ts";
import { openMedia, RUNWAY, VIDEO_JOB } from "../../test/helpers/media_calls.ts";
import { upstreamName } from "./admission.ts";
import { UpstreamFailure } from "./failure.ts";

const strict = { sanitizeOps: true, sanitizeResources: true };
const never = new AbortController().signal;

/** How a call failed. */
async function failureOf(call: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await call.then(() => null, (thrown) => thrown);
  assert.ok(error instanceof UpstreamFailure, String(error));
  return error;
}

/** A server that takes a request and then does as told with the connection. */
function startRawServer(answer: string | null) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const taken = Promise.withResolvers<void>();
  const serving = (async () => {
    for await (const connection of listener) {
      open.push(connection);
      await connection.read(new Uint8Array(65_536));
      taken.resolve();
      if (answer === null) continue;
      await connection.write(new TextEncoder().encode(answer));
      connection.close();
      open.pop();
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    /** Resolves when it has a request. */
    taken: taken.promise,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
      for (const connection of open) connection.close();
    },
  };
}

Deno.test("no server listens: the job was certainly not sent", strict, async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  using media = openMedia({ ...RUNWAY, baseUrl: `http://127.0.0.1:${port}` });
  const failure = await failureOf(media.calls.submit(media.assignment, VIDEO_JOB, never));
  assert.deepEqual([failure.kind, failure.received], ["unreachable", "no"]);
});

Deno.test(
  "an answer that is cut, or never comes, leaves it open whether the job runs",
  strict,
  async () => {
    await using cut = startRawServer("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{");
    using first = openMedia({ ...RUNWAY, baseUrl: cut.url });
    const broken = await failureOf(first.calls.submit(first.assignment, VIDEO_JOB, never));
    assert.deepEqual([broken.kind, broken.received], ["cut", "unknown"]);

    await using silent = startRawServer(null);
    using second = openMedia({ ...RUNWAY, baseUrl: silent.url, timeoutSeconds: 1 });
    const late = await failureOf(second.calls.submit(second.assignment, VIDEO_JOB, never));
    assert.deepEqual([late.kind, late.received], ["timeout", "unknown"]);
  },
);

Deno.test(
  "a redirect is not followed, and invalid JSON is an unreadable response",
  strict,
  async () => {
    await using upstream = startFakeUpstream();
    using media = openMedia({ ...RUNWAY, baseUrl: upstream.url });
    upstream.answer({ status: 307, headers: { location: `${upstream.url}/elsewhere` } });
    const moved = await failureOf(media.calls.submit(media.assignment, VIDEO_JOB, never));
    assert.deepEqual([moved.kind, moved.received, upstream.seen.length], ["failed", "declined", 1]);
    upstream.answer({
      status: 200,
      headers: { "content-type": "application/json" },
      text: '{"id":',
    });
    const garbled = await failureOf(media.calls.submit(media.assignment, VIDEO_JOB, never));
    assert.deepEqual([garbled.kind, garbled.received], ["unreadable", "unknown"]);
  },
);

Deno.test(
  "an upstream that asks for rest gets it, and nothing is sent meanwhile",
  strict,
  async () => {
    await using upstream = startFakeUpstream();
    using media = openMedia({ ...RUNWAY, baseUrl: upstream.url });
    const { calls, assignment } = media;
    upstream.answer({
      status: 429,
      headers: { "retry-after": "30" },
      body: { error: "slow down" },
    });
    await failureOf(calls.submit(assignment, VIDEO_JOB, never));
    const choice = calls.choose(assignment.config, assignment.model, []);
    assert.ok(choice.upstream === null && choice.retryAfterMs !== null);
    assert.ok(choice.retryAfterMs > 20_000 && choice.retryAfterMs <= 30_000);
    const failure = await failureOf(calls.submit(assignment, VIDEO_JOB, never));
    assert.deepEqual([failure.kind, failure.received, upstream.seen.length], [
      "overloaded",
      "no",
      1,
    ]);
    assert.equal(media.admission.getHealth(assignment.upstream).state, "open");
    assert.deepEqual(media.attempts, ["rate_limited"]);
  },
);

Deno.test(
  "a rejected job shows a healthy upstream; one that cannot be asked is not counted",
  strict,
  async () => {
    await using upstream = startFakeUpstream();
    using media = openMedia({ ...RUNWAY, baseUrl: upstream.url });
    const { calls, assignment } = media;
    upstream.answer({ status: 400, body: { error: "no" } });
    for (let at = 0; at < 6; at++) await failureOf(calls.submit(assignment, VIDEO_JOB, never));
    const odd = { ...VIDEO_JOB, parameters: { aspect_ratio: "7:3" } };
    for (let at = 0; at < 6; at++) await failureOf(calls.submit(assignment, odd, never));
    assert.equal(media.admission.getHealth(assignment.upstream).state, "closed");
    assert.equal(media.admission.getHealth(assignment.upstream).in_flight, 0);
    assert.equal(
      calls.choose(assignment.config, assignment.model, []).upstream,
      assignment.upstream,
    );
  },
);

Deno.test("each upstream is chosen once, and a full one not at all", strict, async () => {
  await using upstream = startFakeUpstream();
  using media = openMedia({ ...RUNWAY, baseUrl: upstream.url, provider: "concurrency_max: 1" });
  const { calls, assignment, admission } = media;
  assert.deepEqual(
    calls.choose(assignment.config, assignment.model, [upstreamName(assignment.upstream)]),
    {
      upstream: null,
      retryAfterMs: null,
    },
  );
  const permit = admission.acquire(
    assignment.upstream,
    assignment.config.providers.get("p")!,
    "acc_1",
  )!;
  assert.deepEqual(calls.choose(assignment.config, assignment.model, []), {
    upstream: null,
    retryAfterMs: 1000,
  });
  const failure = await failureOf(calls.submit(assignment, VIDEO_JOB, never));
  assert.deepEqual([failure.kind, failure.received], ["overloaded", "no"]);
  permit.release(null);
  assert.equal(calls.choose(assignment.config, assignment.model, []).upstream, assignment.upstream);
});

Deno.test("failed polls do not open the circuit breaker", strict, async () => {
  await using upstream = startFakeUpstream();
  using media = openMedia({ ...RUNWAY, baseUrl: upstream.url });
  const { calls, assignment } = media;
  upstream.answer({ status: 503, body: { error: "busy" } });
  for (let at = 0; at < 6; at++) await failureOf(calls.getStatus(assignment, "1", never));
  assert.equal(media.admission.getHealth(assignment.upstream).state, "closed");
  assert.deepEqual(media.attempts, Array(6).fill("overloaded"));
});

Deno.test("an id that would change its path is rejected", strict, async () => {
  await using upstream = startFakeUpstream();
  using media = openMedia({ ...RUNWAY, baseUrl: upstream.url });
  for (const id of ["..", ".", "", { a: 1 }, null]) {
    upstream.answer({ status: 200, body: { id } });
    const failure = await failureOf(media.calls.submit(media.assignment, VIDEO_JOB, never));
    assert.equal(failure.kind, "unreadable", String(id));
  }
  upstream.answer({ status: 200, body: { status: "RUNNING" } });
  await media.calls.getStatus(media.assignment, "a/../../b?c=d", never);
  assert.equal(upstream.seen.at(-1)!.path, "/tasks/a%2F..%2F..%2Fb%3Fc%3Dd");
});

Deno.test(
  "an output elsewhere is fetched like a stranger's address, and never with our key",
  strict,
  async () => {
    await using upstream = startFakeUpstream();
    await using elsewhere = startFakeUpstream();
    using media = openMedia({
      adapter: "openai",
      type: "video",
      model: "v",
      baseUrl: upstream.url,
    });
    const { calls, assignment } = media;
    elsewhere.answer({ status: 200, headers: { "content-type": "video/mp4" }, text: "frames" });
    const output = {
      url: `${elsewhere.url}/v.mp4`,
      headers: {},
      mimeType: null,
      withKey: true,
    } as const;
    const { body, mimeType } = await calls.fetchOutput(assignment, output, never);
    assert.deepEqual([await new Response(body).text(), mimeType], ["frames", "video/mp4"]);
    assert.equal(elsewhere.seen[0]!.headers.get("authorization"), null);
    assert.equal(elsewhere.seen[0]!.headers.get("x-declared"), null);

    const guarded = {
      ...assignment,
      config: { ...assignment.config, outbound: { allowPrivate: false } },
    };
    await failureOf(calls.fetchOutput(guarded, output, never));
    assert.equal(elsewhere.seen.length, 1);
  },
);

Deno.test("an output that is not there is a failure that says so", strict, async () => {
  await using upstream = startFakeUpstream();
  using media = openMedia({ adapter: "openai", type: "video", model: "v", baseUrl: upstream.url });
  upstream.answer({ status: 404, body: { error: { message: "gone" } } });
  const output = { url: `${upstream.url}/v.mp4`, headers: {}, mimeType: null } as const;
  const failure = await failureOf(media.calls.fetchOutput(media.assignment, output, never));
  assert.deepEqual([failure.kind, failure.options.status], ["failed", 404]);
});

Deno.test("an output that is given up before it is read leaves nothing open", strict, async () => {
  const left = Promise.withResolvers<void>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => left.resolve(),
    });
    return new Response(endless);
  });
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  using media = openMedia({ adapter: "openai", type: "video", model: "v", baseUrl });
  const output = { url: `${baseUrl}/v.mp4`, headers: {}, mimeType: null } as const;
  const { body } = await media.calls.fetchOutput(media.assignment, output, never);
  await body.cancel();
  await left.promise;
});

Deno.test(
  "an aborted call ends at once and does not count as a failure of the upstream",
  strict,
  async () => {
    await using silent = startRawServer(null);
    using media = openMedia({ ...RUNWAY, baseUrl: silent.url });
    const leaving = new AbortController();
    const call = media.calls.submit(media.assignment, VIDEO_JOB, leaving.signal);
    const ended = failureOf(call);
    await silent.taken;
    leaving.abort();
    assert.equal((await ended).received, "unknown");
    assert.deepEqual(media.attempts, []);
    assert.equal(media.admission.getHealth(media.assignment.upstream).in_flight, 0);
  },
);
