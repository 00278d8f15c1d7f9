import assert from "node:assert/strict";
import { TcpProxy } from "./tcp_proxy.ts";

/** A server that sends back what it gets. */
function startEcho() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      void connection.readable.pipeTo(connection.writable).catch(() => {});
    }
  })();
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving.catch(() => {});
    },
  };
}

async function echoed(connection: Deno.Conn): Promise<string | null> {
  await connection.write(new TextEncoder().encode("hello"));
  const buffer = new Uint8Array(16);
  const read = await connection.read(buffer).catch(() => null);
  return read === null ? null : new TextDecoder().decode(buffer.subarray(0, read));
}

Deno.test("a proxy passes bytes, keeps them while frozen, and closes connections when cut", async () => {
  await using server = startEcho();
  await using proxy = new TcpProxy(server.port);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: proxy.port });
  assert.equal(await echoed(connection), "hello");

  proxy.freeze();
  let isThawed = false;
  const answer = echoed(connection).then((text) => [text, isThawed]);
  await new Promise((resume) => setTimeout(resume, 50));
  isThawed = true;
  proxy.thaw();
  assert.deepEqual(await answer, ["hello", true]);

  assert.equal(proxy.cut(), 1);
  assert.equal(await echoed(connection).catch(() => null), null);
  using another = await Deno.connect({ hostname: "127.0.0.1", port: proxy.port });
  assert.equal(await echoed(another), "hello", "new connections are served");
});
