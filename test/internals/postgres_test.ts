import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import postgres from "postgres";

interface Query extends Promise<unknown> {
  handler: (query: Query) => void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  cancelled: unknown;
}

const OPTIONS = {
  max: 1,
  ssl: false,
  idle_timeout: 0,
  connect_timeout: 0,
  backoff: false,
} as const;

Deno.test("postgres: a query runs by its handler, which can be replaced, and is settled from outside", async () => {
  const sql = postgres(OPTIONS);
  const run: Query[] = [];
  const query = sql`select ${1}` as unknown as Query;
  assert.equal(typeof query.handler, "function");
  assert.ok("cancelled" in query);
  query.handler = (given) => void run.push(given);
  const failed = assert.rejects(query, /no connection/);
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(run, [query], "Awaiting a query calls its handler once, with the query.");
  query.reject(new Error("no connection"));
  await failed;
});

Deno.test("postgres: the option `socket` provides the connection", async () => {
  const written = Promise.withResolvers<Uint8Array>();
  const socket = new Duplex({
    read() {},
    write(bytes, _encoding, done) {
      written.resolve(bytes);
      done();
    },
  });
  socket.on("error", () => {});
  const options = { ...OPTIONS, user: "u", database: "d", socket: () => Promise.resolve(socket) };
  const sql = postgres(options as unknown as postgres.Options<Record<never, never>>);
  const failed = assert.rejects(sql`select 1`);
  const startup = new TextDecoder("latin1").decode(await written.promise);
  assert.match(startup, /user\0u\0database\0d/);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.destroy(new Error("gone"));
  await failed;
  await closed;
  await sql.end({ timeout: 0 });
});
