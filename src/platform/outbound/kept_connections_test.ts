import assert from "node:assert/strict";
import { HOST, say, serveRaw } from "../../../test/helpers/raw_server.ts";
import { Outbound } from "./safe_fetch.ts";
import { sleep } from "../../lib/timers.ts";

const LENIENT = { allowPrivate: true };
const here = () => Promise.resolve(["127.0.0.1"]);
const LIMITS = { timeoutMs: 20_000, bytesMax: 1_000_000 };
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("connections are kept for the next request when an answer was read, and dropped when it was not", async () => {
  const sizes: number[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request, info) => {
      sizes.push((info.remoteAddr as Deno.NetAddr).port);
      return new Response(request.method === "HEAD" ? null : "x".repeat(1000));
    },
  );
  using outbound = new Outbound({ resolve: here });
  const url = `http://${HOST}:${server.addr.port}/`;
  for (const method of ["GET", "GET", "HEAD", "GET"] as const) {
    using response = await outbound.fetch({ ...LIMITS, url, method }, LENIENT);
    if (response.body !== null) await new Response(response.body).text();
    // The socket goes back to its pool a turn after the last byte.
    await sleep(20);
  }
  assert.equal(new Set(sizes).size, 1, sizes.join());
  using _unread = await outbound.fetch({ ...LIMITS, url }, LENIENT);
});

test("a kept connection that the server has closed is replaced without an error", async () => {
  await using server = serveRaw(async (connection) => {
    await say(connection, OK);
    // Says nothing of closing, waits for the next request and closes in its face.
    await connection.read(new Uint8Array(1000));
  });
  using outbound = new Outbound({ resolve: here });
  for (let round = 1; round <= 3; round++) {
    using response = await outbound.fetch(
      { ...LIMITS, url: `http://${HOST}:${server.port}/` },
      LENIENT,
    );
    assert.equal(await new Response(response.body).text(), "ok");
    assert.equal(server.taken, round);
    await sleep(20);
  }
});
