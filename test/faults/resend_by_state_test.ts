import assert from "node:assert/strict";
import { Http1Client } from "../../src/upstream/http1/client.ts";
import { UpstreamFailure } from "../../src/upstream/failure.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { openMedia, RUNWAY, VIDEO_JOB } from "../helpers/media_calls.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Error texts of runtimes and libraries: some speak of a connection that never existed, some of one that broke. */
const TEXTS = [
  "tcp connect error: Connection refused (os error 111)",
  "client error (Connect): dns error: failed to lookup address information",
  "client error (SendRequest): connection closed before message completed",
  "error sending request: nothing was sent",
  "Broken pipe (os error 32)",
  "",
];

async function submitFailure(
  options: { http1: Http1Client | null; baseUrl: string; adapter?: string },
): Promise<UpstreamFailure> {
  using media = openMedia({ ...RUNWAY, ...options });
  const { signal } = new AbortController();
  const error = await media.calls.submit(media.assignment, VIDEO_JOB, signal).catch((thrown) =>
    thrown
  );
  assert.ok(error instanceof UpstreamFailure, String(error));
  return error;
}

/** A socket that takes every byte and then fails with this text. */
function brokenSocket(text: string): Deno.TcpConn {
  return {
    setNoDelay() {},
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    read: () => Promise.reject(new Deno.errors.ConnectionRefused(text)),
    close() {},
  } as unknown as Deno.TcpConn;
}

Deno.test(
  "a job whose connection never opened was not received, whatever the error says",
  STRICT,
  async () => {
    for (const text of TEXTS) {
      using http1 = new Http1Client({ connect: () => Promise.reject(new TypeError(text)) });
      const failure = await submitFailure({ http1, baseUrl: "http://127.0.0.1:9" });
      assert.deepEqual([failure.kind, failure.received], ["unreachable", "no"], text);
    }
  },
);

Deno.test(
  "a job of which bytes went to a socket may have been received, whatever the error says",
  STRICT,
  async () => {
    for (const text of TEXTS) {
      using http1 = new Http1Client({ connect: () => Promise.resolve(brokenSocket(text)) });
      const failure = await submitFailure({ http1, baseUrl: "http://127.0.0.1:9" });
      assert.equal(failure.received, "unknown", text);
    }
  },
);

Deno.test(
  "a job that fetch failed to send may have been received, whatever the error says",
  STRICT,
  async () => {
    const original = globalThis.fetch;
    try {
      for (const text of TEXTS) {
        globalThis.fetch = () => Promise.reject(new TypeError(text));
        const failure = await submitFailure({ http1: null, baseUrl: "http://127.0.0.1:9" });
        assert.equal(failure.received, "unknown", text);
      }
    } finally {
      globalThis.fetch = original;
    }
  },
);

Deno.test(
  "the message of a 5xx response never proves that a job was not started",
  STRICT,
  async () => {
    await using upstream = startFakeUpstream();
    const messages = [
      "out of memory",
      "queue is full",
      "rejected: the job was not started",
      "error",
    ];
    for (const message of messages) {
      using http1 = new Http1Client();
      upstream.answer({ status: 500, body: { detail: message } });
      const failure = await submitFailure({ http1, adapter: "replicate", baseUrl: upstream.url });
      assert.equal(failure.received, "unknown", message);
    }
  },
);
