/** A server in a thread of its own that answers each connection once and closes it 200 ms later. */
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
postMessage(listener.addr.port);
for await (const connection of listener) {
  void (async () => {
    await connection.read(new Uint8Array(10_000));
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    await connection.write(new TextEncoder().encode(answer));
    setTimeout(() => connection.close(), 200);
  })();
}
