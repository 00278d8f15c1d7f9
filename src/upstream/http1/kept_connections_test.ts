import assert from "node:assert/strict";
import { NotSent } from "../adapter.ts";
import { ask, asking, never, OK, sayInTurn, test, until } from "../../../test/helpers/http1.ts";
import { CERTIFICATE, HOST, say, serveRaw, untilLeft } from "../../../test/helpers/raw_server.ts";
import { serveAndClose } from "../../../test/helpers/closing_upstream.ts";
import { Http1Client } from "./client.ts";

test("a GET on a kept connection that closes unanswered is sent once more; on a new one it is not", async () => {
  let answers = 2;
  await using server = serveRaw(async (connection) => {
    if (answers-- <= 0) return;
    await say(connection, OK);
    // Waits for the next request and closes in its face.
    await connection.read(new Uint8Array(1000));
  });
  using client = new Http1Client();
  const get = { method: "GET", body: null } as const;
  assert.equal(await ask(client, asking(server.port, get)), "200 ok");
  assert.equal(await ask(client, asking(server.port, get)), "200 ok");
  assert.equal(server.taken, 2);
  assert.equal(await ask(client, asking(server.port, get)), "InvalidResponse");
  assert.equal(server.taken, 3);
});

for (const tls of [false, true]) {
  test(`a POST goes once to a server that accepts it and closes, ${tls ? "https" : "http"}`, async () => {
    await using server = serveAndClose({ tls });
    const connect = () => Deno.connect({ hostname: "127.0.0.1", port: server.port });
    using client = new Http1Client({ caCerts: [CERTIFICATE], connect });
    const url = `${tls ? "https" : "http"}://${HOST}:${server.port}/v1/x`;
    for (const body of ["{}", "x".repeat(2_000_000)]) {
      const before = server.received;
      assert.equal(await ask(client, asking(0, { url, body })), "InvalidResponse");
      assert.equal(server.received, before + 1, "on a new connection");
    }
    server.answers = 1;
    assert.equal(await ask(client, asking(0, { url })), "200 ok");
    assert.equal(client.idleCount, 1);
    const before = server.received;
    assert.equal(await ask(client, asking(0, { url })), "InvalidResponse");
    assert.equal(server.received, before + 1, "on a kept connection");
  });
}

test("a kept connection is not used again when the server is about to close it", async () => {
  await using server = serveRaw(async (connection) => {
    await say(connection, OK.replace("\r\n\r\n", "\r\nkeep-alive: timeout=1, max=9\r\n\r\n"));
    await untilLeft(connection);
  });
  using client = new Http1Client();
  assert.equal(await ask(client, asking(server.port)), "200 ok");
  assert.equal(await ask(client, asking(server.port)), "200 ok");
  assert.equal(server.taken, 2);
});

test("a close that arrived while the process was busy is seen before the connection is used", async () => {
  const worker = new Worker(new URL("../../../test/helpers/closing_server.ts", import.meta.url), {
    type: "module",
  });
  const port = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
  });
  using client = new Http1Client();
  assert.equal(await ask(client, asking(port)), "200 ok");
  // The server closes after 200 ms; this thread learns nothing of it before it asks again.
  const until = performance.now() + 1_300;
  while (performance.now() < until);
  assert.equal(await ask(client, asking(port)), "200 ok");
  worker.terminate();
});

test("a kept connection that broke in the middle of a response is not used again", async () => {
  await using server = serveRaw((connection) => sayInTurn(connection, [OK, "HTTP/1.1 200 OK\r\n"]));
  using client = new Http1Client();
  assert.equal(await ask(client, asking(server.port)), "200 ok");
  assert.equal(await ask(client, asking(server.port)), "InvalidResponse");
  assert.equal(server.taken, 1);
});

test("a connection that the server closes while it is idle is removed", async () => {
  await using server = serveRaw((connection) => say(connection, OK).then());
  using client = new Http1Client();
  for (let round = 1; round <= 3; round++) {
    assert.equal(await ask(client, asking(server.port)), "200 ok");
    await until(() => client.idleCount === 0);
    assert.equal(server.taken, round);
  }
});

test("an idle connection is closed after a while", async () => {
  let left = 0;
  await using server = serveRaw(async (connection) => {
    await say(connection, OK);
    await untilLeft(connection);
    left++;
  });
  using client = new Http1Client({ idleMs: 20 });
  assert.equal(await ask(client, asking(server.port)), "200 ok");
  assert.equal(client.idleCount, 1);
  await until(() => left === 1);
  assert.equal(client.idleCount, 0);
});

test("giving up closes the connection, before the answer and in the middle of it", async () => {
  let left = 0;
  await using server = serveRaw(async (connection, head) => {
    if (head.startsWith("POST")) {
      await say(connection, "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
    }
    await untilLeft(connection);
    left++;
  });
  using client = new Http1Client();
  const early = new AbortController();
  const asked = client.send(asking(server.port, { method: "GET", body: null }), early.signal);
  setTimeout(() => early.abort(), 20);
  await assert.rejects(asked);
  const late = new AbortController();
  const { body } = await client.send(asking(server.port), late.signal);
  assert.equal((await body.read())?.length, 4);
  const reading = body.read();
  late.abort();
  await assert.rejects(reading);
  const { body: unwanted } = await client.send(asking(server.port), never());
  unwanted.cancel();
  await assert.rejects(client.send(asking(server.port), AbortSignal.abort()), NotSent);
  await until(() => left === 3);
});
