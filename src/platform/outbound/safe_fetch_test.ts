import assert from "node:assert/strict";
import { CERTIFICATE, HOST, say, serveRaw, untilLeft } from "../../../test/helpers/raw_server.ts";
import { checkUrlResolves } from "./check_url.ts";
import { Outbound, type OutboundOptions, type OutboundRequest } from "./safe_fetch.ts";
import { sleep } from "../../lib/timers.ts";

const STRICT = { allowPrivate: false };
const LENIENT = { allowPrivate: true };
const here = () => Promise.resolve(["127.0.0.1"]);
const LIMITS = { timeoutMs: 20_000, bytesMax: 1_000_000 };

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

/** The answer and its text, or the fault's name. */
async function ask(
  request: Partial<OutboundRequest> & { url: string },
  options: OutboundOptions = {},
  policy = LENIENT,
): Promise<{ status: number; text: string; headers: Headers } | string> {
  using outbound = new Outbound({ resolve: here, ca: CERTIFICATE, idleMax: 0, ...options });
  try {
    using response = await outbound.fetch({ ...LIMITS, ...request }, policy);
    const text = response.body === null ? "" : await new Response(response.body).text();
    return { status: response.status, text, headers: response.headers };
  } catch (error) {
    const { code, fault } = error as { code?: string; fault?: string };
    return code ?? fault ?? String(error);
  }
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test("a request arrives with its own headers, body and host, and nothing that tells of us", async () => {
  let seen = "";
  await using server = serveRaw(async (connection, head) => {
    seen = head;
    await say(connection, OK);
  }, { tls: true });
  const answer = await ask({
    url: `https://${HOST}:${server.port}/hook?x=1#part`,
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Host: "evil.example",
      "Accept-Encoding": "gzip",
    },
    body: "{}",
  });
  assert.equal(typeof answer === "string" ? answer : answer.text, "ok");
  const [line, ...headers] = seen.split("\r\n\r\n")[0]!.split("\r\n");
  assert.equal(line, "POST /hook?x=1 HTTP/1.1");
  assert.deepEqual(headers.map((header) => header.toLowerCase()).sort(), [
    "accept-encoding: identity",
    "connection: close",
    "content-length: 2",
    "content-type: application/json",
    `host: ${HOST}:${server.port}`,
  ]);
});

test("the certificate must be valid, and for the name that was asked for", async () => {
  await using first = serveRaw((connection) => say(connection, OK).then(), { tls: true });
  assert.equal(await ask({ url: `https://${HOST}:${first.port}/` }, { ca: undefined }), "tls");
  await using second = serveRaw((connection) => say(connection, OK).then(), { tls: true });
  assert.equal(await ask({ url: `https://other.example.com:${second.port}/` }), "tls");
});

test("a host that has any private address is never connected to", async () => {
  for (
    const addresses of [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["2606:4700:4700::1111", "::1"], [
      "::ffff:127.0.0.1",
    ]]
  ) {
    const resolve = () => Promise.resolve(addresses);
    assert.equal(await ask({ url: `https://${HOST}/` }, { resolve }, STRICT), "unsafe_url");
  }
});

test("a name that resolves to a public address at first and to a private one later is caught", async () => {
  const answers = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8"]];
  let asked = 0;
  const resolve = () => Promise.resolve(answers[asked++]!);
  await checkUrlResolves(`https://${HOST}/`, STRICT, "callback_url", resolve);
  assert.equal(await ask({ url: `https://${HOST}/` }, { resolve }, STRICT), "unsafe_url");
  assert.equal(asked, 2);
});

test("the name is looked up once per connection: what was checked is what is connected to", async () => {
  await using server = serveRaw((connection) => say(connection, OK).then());
  let asked = 0;
  const resolve = () => Promise.resolve(asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]);
  const answer = await ask({ url: `http://${HOST}:${server.port}/` }, { resolve });
  assert.equal(typeof answer === "string" ? answer : answer.status, 200);
  assert.deepEqual([asked, server.taken], [1, 1]);
});

test("addresses that clients may not name are refused before anything is resolved", async () => {
  const resolve = () => assert.fail("resolved");
  for (
    const url of [
      "http://hooks.example.com/",
      "https://127.0.0.1/",
      "https://hooks.example.com:8443/",
    ]
  ) {
    assert.equal(await ask({ url }, { resolve }, STRICT), "unsafe_url");
  }
});

test("redirects of every kind are answers and are not followed", async () => {
  await using target = serveRaw((connection) => say(connection, OK).then());
  for (const status of [301, 302, 303, 307, 308]) {
    for (
      const location of [
        `http://127.0.0.1:${target.port}/`,
        "/elsewhere",
        "//127.0.0.1/",
        "file:///etc/passwd",
      ]
    ) {
      await using server = serveRaw((connection) =>
        say(
          connection,
          `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`,
        )
          .then()
      );
      const answer = await ask({ url: `http://${HOST}:${server.port}/` });
      assert.equal(typeof answer === "string" ? answer : answer.status, status);
      assert.equal(server.taken, 1);
    }
  }
  await using refreshing = serveRaw((connection) =>
    say(
      connection,
      `HTTP/1.1 200 OK\r\nrefresh: 0; url=http://127.0.0.1:${target.port}/\r\ncontent-length: 0\r\n\r\n`,
    )
      .then()
  );
  await ask({ url: `http://${HOST}:${refreshing.port}/` });
  assert.equal(target.taken, 0);
});

test("a name that does not resolve and a port without a listener have different errors", async () => {
  const resolve = () => Promise.reject(new Error("ENOTFOUND"));
  assert.equal(await ask({ url: `https://${HOST}/` }, { resolve }), "unresolved");
  assert.equal(
    await ask({ url: `https://${HOST}/` }, { resolve: () => Promise.resolve([]) }),
    "unresolved",
  );
  let port: number;
  {
    await using server = serveRaw(() => {});
    port = server.port;
  }
  assert.equal(await ask({ url: `http://${HOST}:${port}/` }), "refused");
});

test("a resolver, a connection and a handshake that hang are given up", async () => {
  const { promise: never, resolve: release } = Promise.withResolvers<string[]>();
  const connectTimeoutMs = 50;
  assert.equal(
    await ask({ url: `https://${HOST}/`, connectTimeoutMs }, { resolve: () => never }),
    "timeout",
  );
  release(["127.0.0.1"]);
  // Accepts the connection and never answers the TLS handshake.
  await using server = serveRaw(untilLeft);
  assert.equal(await ask({ url: `https://${HOST}:${server.port}/`, connectTimeoutMs }), "timeout");
});

test("an answer that does not begin, and one that drips, end at the deadline", async () => {
  await using silent = serveRaw(untilLeft);
  assert.equal(await ask({ url: `http://${HOST}:${silent.port}/`, timeoutMs: 100 }), "timeout");
  await using head = serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 200 OK\r\nx-slow: ");
    await untilLeft(connection);
  });
  assert.equal(await ask({ url: `http://${HOST}:${head.port}/`, timeoutMs: 100 }), "timeout");
  await using dripping = serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
    while (true) {
      await say(connection, ".");
      await sleep(10);
    }
  });
  assert.equal(await ask({ url: `http://${HOST}:${dripping.port}/`, timeoutMs: 300 }), "timeout");
});

test("an answer larger than allowed is cut off, announced or not", async () => {
  for (const framing of ["content-length: 5000\r\n\r\n", "connection: close\r\n\r\n"]) {
    await using server = serveRaw(async (connection) => {
      await say(connection, `HTTP/1.1 200 OK\r\n${framing}${"x".repeat(5000)}`);
      await untilLeft(connection);
    });
    assert.equal(await ask({ url: `http://${HOST}:${server.port}/`, bytesMax: 4096 }), "too_large");
  }
  await using endless = serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 200 OK\r\n");
    while (true) await say(connection, `x-more: ${"x".repeat(1000)}\r\n`);
  });
  assert.equal(await ask({ url: `http://${HOST}:${endless.port}/` }), "broken");
});

test("an answer that ends before its announced length, or is not HTTP, is broken", async () => {
  const answers = [
    "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "HTTP/1.1 200",
    "SSH-2.0-OpenSSH_9.9\r\n",
    "",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
  ];
  for (const text of answers) {
    await using server = serveRaw((connection) =>
      text === "" ? undefined : say(connection, text).then()
    );
    assert.equal(
      await ask({ url: `http://${HOST}:${server.port}/` }),
      "broken",
      JSON.stringify(text),
    );
  }
});

test("a caller that gives up ends the request, before the answer and in the middle of it", async () => {
  await using silent = serveRaw(untilLeft);
  assert.equal(
    await ask({ url: `http://${HOST}:${silent.port}/`, signal: AbortSignal.timeout(50) }),
    "aborted",
  );
  await using half = serveRaw(async (connection) => {
    await say(connection, "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
    await untilLeft(connection);
  });
  const giving = new AbortController();
  using outbound = new Outbound({ resolve: here });
  using response = await outbound.fetch({
    ...LIMITS,
    url: `http://${HOST}:${half.port}/`,
    signal: giving.signal,
  }, LENIENT);
  const reader = response.body!.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "half");
  giving.abort();
  await assert.rejects(reader.read(), { fault: "aborted" });
});

test("204 and HEAD have no body and leave nothing open", async () => {
  await using server = serveRaw((connection, head) =>
    say(
      connection,
      head.startsWith("HEAD")
        ? "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"
        : "HTTP/1.1 204 No Content\r\n\r\n",
    )
      .then()
  );
  for (const method of ["HEAD", "POST"] as const) {
    const answer = await ask({ url: `http://${HOST}:${server.port}/`, method });
    assert.ok(typeof answer !== "string", String(answer));
    assert.equal(answer.text, "");
  }
});
