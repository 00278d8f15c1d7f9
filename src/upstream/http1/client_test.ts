import assert from "node:assert/strict";
import { ask, asking, never, OK, sayInTurn, test } from "../../../test/helpers/http1.ts";
import { CERTIFICATE, HOST, say, serveRaw, untilLeft } from "../../../test/helpers/raw_server.ts";
import { NotSent, type UpstreamRequest } from "../adapter.ts";
import { readText } from "../read_whole.ts";
import { Http1Client, needsFetch } from "./client.ts";
import { sleep } from "../../lib/timers.ts";

test("a request arrives as it was written", async () => {
  let seen = "";
  await using server = serveRaw(async (connection, head) => {
    seen = head;
    await say(connection, OK);
  });
  using client = new Http1Client();
  const headers = { "content-type": "application/json", Authorization: "Bearer k" };
  assert.equal(await ask(client, asking(server.port, { headers, body: '"ü"' })), "200 ok");
  assert.deepEqual(seen.split("\r\n"), [
    "POST /v1/x?y=1 HTTP/1.1",
    `host: 127.0.0.1:${server.port}`,
    "content-type: application/json",
    "Authorization: Bearer k",
    "user-agent: Tollgate",
    "accept-encoding: identity",
    "content-length: 4",
    "",
    '"ü"',
  ]);
});

const KEPT = [
  OK,
  "HTTP/1.1 200\r\nContent-Length:2, 2\r\n\r\nok",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nx-sum: 1\r\n\r\n",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK,
  `HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(12_000)}\r\ncontent-length: 2\r\n\r\nok`,
];
const NOT_KEPT = [
  "HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 2\r\n\r\nok",
  "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
  OK + "HTTP/1.1 200 OK\r\n", // A second response without a second request.
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 9\r\n\r\n2\r\nok\r\n0\r\n\r\n",
];

test("answers of every framing are read, and their connection serves the next request", async () => {
  for (const text of KEPT) {
    await using server = serveRaw((connection) => sayInTurn(connection, [text, text, text]));
    using client = new Http1Client();
    for (let round = 0; round < 3; round++) {
      assert.equal(await ask(client, asking(server.port)), "200 ok", text.slice(0, 80));
    }
    assert.equal(server.taken, 1, text.slice(0, 80));
  }
});

test("interim responses are skipped, however long they are", async () => {
  await using server = serveRaw(async (connection) => {
    await say(connection, `HTTP/1.1 103 Early Hints\r\nlink: </${"x".repeat(500)}>\r\n\r\n`);
    await sleep(50);
    await say(connection, OK);
  });
  using client = new Http1Client();
  assert.equal(await ask(client, asking(server.port)), "200 ok");
});

test("a connection is not reused after an ambiguous response", async () => {
  for (const text of NOT_KEPT) {
    await using server = serveRaw((connection) => sayInTurn(connection, [text, text]));
    using client = new Http1Client();
    for (let round = 0; round < 2; round++) {
      assert.equal(await ask(client, asking(server.port)), "200 ok", text);
    }
    assert.equal(server.taken, 2, text);
  }
});

test("an answer without a length ends with its connection, one without a body at once", async () => {
  await using server = serveRaw(async (connection, head) => {
    if (head.startsWith("POST")) await say(connection, "HTTP/1.1 200 OK\r\n\r\nuntil the end");
    else await sayInTurn(connection, ["HTTP/1.1 204 No Content\r\n\r\n", OK]);
  });
  using client = new Http1Client();
  assert.equal(await ask(client, asking(server.port)), "200 until the end");
  const get = asking(server.port, { method: "GET", body: null });
  assert.equal(await ask(client, get), "204 ");
  assert.equal(await ask(client, get), "200 ok");
  assert.equal(server.taken, 2);
});

test("a response that arrives byte by byte is the same response", async () => {
  const text =
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nüx\r\n2\r\nyz\r\n0\r\n\r\n";
  await using server = serveRaw(async (connection) => {
    (connection as Deno.TcpConn).setNoDelay();
    for (const byte of new TextEncoder().encode(text)) {
      await connection.write(new Uint8Array([byte]));
      await sleep(0);
    }
  });
  using client = new Http1Client();
  assert.equal(await ask(client, asking(server.port)), "200 üxyz");
});

test("bytes that arrived together are one piece, and a long response has many", async () => {
  const chunk = `5\r\nhello\r\n`;
  const large = "x".repeat(100_000);
  await using server = serveRaw((connection) =>
    sayInTurn(connection, [
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(100)}0\r\n\r\n`,
      `HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${large}`,
    ])
  );
  using client = new Http1Client();
  const { body } = await client.send(asking(server.port), never());
  assert.equal((await body.read())?.length, 500);
  assert.equal(await body.read(), null);
  assert.equal(await body.read(), null);
  assert.equal(await ask(client, asking(server.port)), `200 ${large}`);
  assert.equal(server.taken, 1);
});

const BROKEN = [
  "",
  "HTTP/1.1 200",
  "HTTP/2 200 OK\r\n\r\n",
  "SSH-2.0-OpenSSH_9.9\r\n\r\n",
  "HTTP/1.1 2000 OK\r\n\r\n",
  "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
  "HTTP/1.1 200 OK\r\nx: a\r\n folded\r\n\r\n",
  "HTTP/1.1 200 OK\r\nx : a\r\n\r\n",
  "HTTP/1.1 200 OK\r\nx: a\nb: c\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
  `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
  `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(300)}\r\n`,
  "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n",
];

test("answers that are cut or not HTTP fail, once, and leave no connection behind", async () => {
  for (const text of BROKEN) {
    await using server = serveRaw(async (connection) => {
      if (text !== "") await say(connection, text);
    });
    using client = new Http1Client();
    assert.equal(await ask(client, asking(server.port)), "InvalidResponse", text.slice(0, 80));
    assert.equal(server.taken, 1, text.slice(0, 80));
  }
});

test("a response that arrives before the request was read is returned", async () => {
  await using server = serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nno!");
    await untilLeft(connection);
  });
  using client = new Http1Client();
  const body = "x".repeat(20_000_000);
  const answer = await client.send(asking(server.port, { body }), never());
  assert.equal(answer.status, 413);
  assert.equal(await readText(answer, 100), "no!");
});

test("a response in an encoding that was not requested fails, and later requests use fetch", async () => {
  await using server = serveRaw((connection) =>
    say(connection, "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx")
      .then()
  );
  using client = new Http1Client();
  const request = asking(server.port);
  assert.equal(client.canSend(request), true);
  assert.equal(await ask(client, request), "InvalidResponse");
  assert.equal(client.canSend(request), false);
});

test("nothing is sent where no server listens", async () => {
  let port: number;
  {
    await using server = serveRaw(() => {});
    port = server.port;
  }
  using client = new Http1Client();
  await assert.rejects(client.send(asking(port), never()), NotSent);
});

test("the certificate must be valid, and for the name that was asked for", async () => {
  for (const caCerts of [undefined, [CERTIFICATE]]) {
    await using server = serveRaw((connection) => say(connection, OK).then(), { tls: true });
    using client = new Http1Client({ caCerts });
    const url = `https://localhost:${server.port}/`;
    await assert.rejects(client.send(asking(0, { url }), never()), NotSent);
  }
});

test("over TLS answers are read and connections kept as without", async () => {
  await using server = serveRaw((connection) => sayInTurn(connection, [KEPT[2]!, OK, OK]), {
    tls: true,
  });
  const connect = () => Deno.connect({ hostname: "127.0.0.1", port: server.port });
  using client = new Http1Client({ caCerts: [CERTIFICATE], connect });
  const url = `https://${HOST}:${server.port}/`;
  for (let round = 0; round < 3; round++) {
    assert.equal(await ask(client, asking(0, { url })), "200 ok");
  }
  assert.equal(server.taken, 1);
});

test("a handshake that hangs ends when it is given up", async () => {
  await using server = serveRaw(untilLeft);
  using client = new Http1Client();
  const url = `https://localhost:${server.port}/`;
  await assert.rejects(client.send(asking(0, { url }), AbortSignal.timeout(50)), NotSent);
});

Deno.test("requests that need fetch are not accepted", () => {
  using client = new Http1Client();
  const takes = (more: Partial<UpstreamRequest>) => client.canSend(asking(80, more));
  assert.equal(takes({}), true);
  assert.equal(takes({ url: "https://[::1]:8443/x" }), true);
  for (const url of ["", "/x", "ftp://a/x", "http://u@a/x", "http://u:p@a/x", "unix:/x"]) {
    assert.equal(takes({ url }), false, url);
  }
  const headers: [string, string][] = [
    ["x", "a\r\nb: c"],
    ["x", "a\0"],
    ["x", "ü"],
    ["x y", "a"],
    ["", "a"],
    ["Host", "a"],
    ["Accept-Encoding", "gzip"],
    ["Transfer-Encoding", "chunked"],
  ];
  for (const [name, value] of headers) {
    assert.equal(takes({ headers: { [name]: value } }), false, JSON.stringify([name, value]));
  }
});

Deno.test("proxies of the environment are left to fetch", () => {
  assert.equal(needsFetch({}), false);
  assert.equal(needsFetch({ HTTP_PROXY: "", NO_PROXY: "*" }), false);
  for (const name of ["HTTP_PROXY", "https_proxy", "ALL_PROXY"]) {
    assert.equal(needsFetch({ [name]: "http://p:1" }), true, name);
  }
});
