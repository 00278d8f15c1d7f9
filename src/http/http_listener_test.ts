import assert from "node:assert/strict";
import { type HttpListener, type HttpListenerOptions, listenHttp } from "./http_listener.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const TIMING = { headerMs: 300, idleMs: 600 };
const REQUEST = "GET /a HTTP/1.1\r\nhost: x\r\n\r\n";
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

class Listening implements AsyncDisposable {
  readonly listener: HttpListener;

  constructor(handler: HttpListenerOptions["handler"], timing = TIMING) {
    this.listener = listenHttp({
      hostname: "127.0.0.1",
      port: 0,
      reusePort: false,
      handler,
      onAcceptError: (error) => assert.fail(String(error)),
      timing,
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.listener.addr.port}`;
  }

  async connect(): Promise<Client> {
    return new Client(await Deno.connect({ port: this.listener.addr.port }));
  }

  async [Symbol.asyncDispose]() {
    await this.listener.shutdown();
  }
}

class Client implements Disposable {
  constructor(private readonly connection: Deno.TcpConn) {}

  async send(text: string): Promise<void> {
    await this.connection.write(new TextEncoder().encode(text));
  }

  /** Text until the server closes or has answered; empty where it closes without an answer. */
  async read(): Promise<string> {
    const bytes = new Uint8Array(10_000);
    const length = await this.connection.read(bytes).catch(() => null);
    return new TextDecoder().decode(bytes.subarray(0, length ?? 0));
  }

  [Symbol.dispose]() {
    this.connection.close();
  }
}

const hello = () => new Response("hello");

for (
  const [what, begin] of Object.entries({
    "no byte": "",
    "a part of a request line": "GET /a HT",
    "a header without end": "GET /a HTTP/1.1\r\nhost: x\r\nx-a: 1\r\n",
  })
) {
  Deno.test(`a connection that sends ${what} is closed`, STRICT, async () => {
    await using listening = new Listening(hello);
    using client = await listening.connect();
    await client.send(begin);
    // The rest comes too slowly, byte by byte.
    const dropping = setInterval(() => void client.send("x").catch(() => {}), 50);
    assert.equal(await client.read(), "");
    clearInterval(dropping);
  });
}

Deno.test(
  "a kept connection serves the next request, and is closed when none comes",
  STRICT,
  async () => {
    await using listening = new Listening(hello);
    using client = await listening.connect();
    for (let request = 0; request < 3; request++) {
      await client.send(REQUEST);
      assert.match(await client.read(), /^HTTP\/1\.1 200 OK[^]*hello$/);
      await pause(TIMING.headerMs + 50);
    }
    await client.send("GET /a HT");
    assert.equal(await client.read(), "");
  },
);

Deno.test("a slow handler and a slow stream outlive both limits", STRICT, async () => {
  await using listening = new Listening(async () => {
    await pause(1_000);
    return new Response(ReadableStream.from((async function* () {
      for (const word of ["one ", "two ", "three"]) {
        await pause(800);
        yield new TextEncoder().encode(word);
      }
    })()));
  });
  assert.equal(await (await fetch(listening.url)).text(), "one two three");
});

Deno.test("shutdown answers what runs, closes what waits and accepts no more", STRICT, async () => {
  const started = Promise.withResolvers<void>();
  const listening = new Listening(async () => {
    started.resolve();
    await pause(300);
    return new Response("in time");
  }, { headerMs: 60_000, idleMs: 60_000 });
  using silent = await listening.connect();
  await silent.send("GET /a");
  const answer = fetch(listening.url).then((res) => res.text());
  await started.promise;
  await listening.listener.shutdown();
  assert.equal(await answer, "in time");
  assert.equal(await silent.read(), "");
  await assert.rejects(listening.connect());
});

Deno.test("a client that leaves in the middle ends its request", STRICT, async () => {
  const aborted = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  await using listening = new Listening(async (request) => {
    request.signal.addEventListener("abort", () => aborted.resolve());
    started.resolve();
    await aborted.promise;
    return new Response("too late");
  });
  {
    using client = await listening.connect();
    await client.send(REQUEST);
    await started.promise;
  }
  await aborted.promise;
});

Deno.test("the handler knows the address of the client", STRICT, async () => {
  await using listening = new Listening((_, { remoteAddr }) => Response.json(remoteAddr));
  const { hostname, transport } = await (await fetch(listening.url)).json();
  assert.deepEqual({ hostname, transport }, { hostname: "127.0.0.1", transport: "tcp" });
});

Deno.test("a connection whose response fails is freed", STRICT, async () => {
  await using listening = new Listening(() =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.error("broken") }),
    )
  );
  await assert.rejects(fetch(listening.url).then((res) => res.text()));
});

Deno.test("connections that both sides close at the same moment do no harm", STRICT, async () => {
  // Both limits are as short as the clients' pauses.
  await using listening = new Listening(async () => {
    await pause(Math.random() * 6);
    return new Response("hello");
  }, { headerMs: 8, idleMs: 6 });
  const until = performance.now() + 2_000;
  const texts = ["", "GET /a HT", REQUEST, REQUEST + REQUEST];
  await Promise.all(Array.from({ length: 40 }, async (_, index) => {
    while (performance.now() < until) {
      using client = await listening.connect();
      for (let turn = 0; turn < 3; turn++) {
        // Fails when the listener has closed the connection.
        await client.send(texts[index % texts.length]!).catch(() => {});
        await pause(Math.random() * 10);
      }
    }
  }));
});
