import assert from "node:assert/strict";
import { Duplex } from "node:stream";
// @ts-types="@types/pg"
import pg from "pg";

/** The methods that src/platform/queue/pg_pool.ts gives its stream. */
const PROVIDED = ["connect", "setNoDelay", "setKeepAlive", "ref", "unref"];

Deno.test("pg: the option `stream` provides the connection, and needs no other method of a socket", async () => {
  const written = Promise.withResolvers<Uint8Array>();
  const called = new Set<string>();
  const duplex = new Duplex({
    read() {},
    write(bytes, _encoding, done) {
      written.resolve(bytes);
      done();
    },
  });
  for (const name of PROVIDED) {
    Object.assign(duplex, {
      [name]() {
        called.add(name);
        if (name === "connect") queueMicrotask(() => duplex.emit("connect"));
        return duplex;
      },
    });
  }
  const missing = new Set<string>();
  const stream = new Proxy(duplex, {
    get(target, name) {
      if (typeof name === "string" && !(name in target)) missing.add(name);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const client = new pg.Client(
    { user: "u", database: "d", ssl: false, stream: () => stream } as pg.ClientConfig,
  );
  client.on("error", () => {});
  const failed = assert.rejects(client.connect());
  assert.match(new TextDecoder("latin1").decode(await written.promise), /user\0u\0database\0d/);
  assert.ok(called.has("connect"));
  duplex.destroy();
  await failed;
  assert.deepEqual([...missing], [], "pg uses members that the stream does not have.");
});
