import assert from "node:assert/strict";

/** Posts to a server that closes each connection after the request; returns how many requests came. */
async function requestsFor(body: BodyInit): Promise<number> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let requests = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      const bytes = new Uint8Array(4096);
      let text = "";
      while (!text.includes("paid job")) {
        const read = await connection.read(bytes);
        if (read === null) break;
        text += new TextDecoder().decode(bytes.subarray(0, read));
      }
      if (text.includes("paid job")) requests++;
      connection.close();
    }
  })();
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  await assert.rejects(fetch(`http://127.0.0.1:${listener.addr.port}/`, {
    method: "POST",
    body,
    client,
  }));
  listener.close();
  await accepting;
  return requests;
}

Deno.test("deno: fetch sends a Blob once when the connection closes before a response", async () => {
  // src/upstream/sent_once.ts relies on this.
  assert.equal(await requestsFor(new Blob(["paid job"])), 1);
});

Deno.test("deno: an unknown host to listen at is reported as a failed lookup", async () => {
  // src/app/format_startup_error.ts recognises the text; Deno has no error class for it.
  const listening = async () => {
    await Promise.resolve();
    Deno.listen({ hostname: "host.invalid", port: 0 }).close();
  };
  await assert.rejects(listening(), /lookup address/);
});

Deno.test("deno: a key-value file that is damaged is reported in SQLite's words", async () => {
  // src/platform/database/kv.ts recognises them; Deno has no error class for it.
  const path = await Deno.makeTempFile({ prefix: "tollgate-internals-" });
  try {
    await Deno.writeTextFile(path, "no database ".repeat(1000));
    await assert.rejects(Deno.openKv(path), /file is not a database|malformed|corrupt/i);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("deno: a single connection can be served, and the listener of its signal closes it", async () => {
  // src/http/http_listener.ts relies on this.
  const { internal } = Deno as unknown as { internal: symbol };
  const { serveHttpOnConnection } = (Deno as unknown as Record<symbol, {
    serveHttpOnConnection: (...args: unknown[]) => Deno.HttpServer;
  }>)[internal]!;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = listener.accept();
  using client = await Deno.connect({ port: listener.addr.port });
  let close = () => assert.fail("the runtime did not listen");
  const completed: unknown[] = [];
  const server = serveHttpOnConnection(
    await accepting,
    { addEventListener: (_: string, listener: () => never) => close = listener },
    (_: Request, info: Deno.ServeHandlerInfo) => {
      info.completed.then(() => completed.push("completed"));
      return new Response("hello");
    },
    () => new Response(null, { status: 500 }),
    () => {},
  );
  await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  const bytes = new Uint8Array(1_000);
  assert.match(
    new TextDecoder().decode(bytes.subarray(0, await client.read(bytes) ?? 0)),
    /hello$/,
  );
  close();
  assert.equal(await client.read(bytes), null);
  await server.finished;
  assert.deepEqual(completed, ["completed"]);
});
