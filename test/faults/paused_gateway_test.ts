import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { startChatProcess } from "../helpers/chat_process.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";

/** The embedded database serves one process. */
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

/** Reads for so long; what it returns reads the rest, and gives the whole text. */
async function readPart(stream: Response, ms: number) {
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = performance.now() + ms;
  while (performance.now() < until) text += (await reader.read()).value ?? "";
  return async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  };
}

Deno.test(
  "a process that was paused beyond its lease bills all that it served, in one receipt per stream",
  ON_SERVER,
  async () => {
    await using parts = new AsyncDisposableStack();
    const store = parts.use(await freshDatabase());
    const otherDir = await Deno.makeTempDir({ prefix: "tollgate-paused-" });
    parts.defer(() => Deno.remove(otherDir, { recursive: true }));
    const paused = parts.use(await startChatProcess(store.dataDir, store.databaseUrl!));
    // Nodes share their files.
    await Deno.symlink(`${store.dataDir}/files`, `${otherDir}/files`);
    const other = parts.use(await startChatProcess(otherDir, store.databaseUrl!));
    const database = parts.use(await store.open());
    const { key } = await paused.account("100");

    const long = await paused.stream(key, "slow", "Go [[simulate: tokens=300]]");
    const restOfLong = await readPart(long, 3_800); // past its first checkpoint
    const short = await paused.stream(key, "slow", "Go [[simulate: tokens=100]]");
    const restOfShort = await readPart(short, 200);
    const ids = [long, short].map((stream) => stream.headers.get("x-request-id")!);

    paused.process.signal("SIGSTOP");
    // Its lease is over sooner than a test would wait for it.
    await database.sql`update hold set expires_at = now()`;
    const receipts = () => Promise.all(ids.map((id) => other.get(key, `/v1/usage/${id}`)));
    await until("the other node's sweeper came", async () => {
      return (await receipts()).every(({ status }: Json) => status !== "open");
    }, 30);
    const swept = await receipts();
    assert.deepEqual(swept.map(({ status }) => status), ["settled", "expired"]);
    assert.ok(swept[0].usage.output_tokens < 300, "by its checkpoint");
    const rows = async () =>
      (await database.sql<{ status: number; error_code: string | null }[]>`
        select status, error_code from request where id = any(${ids}) order by created_at`)
        .map(({ status, error_code }) => [status, error_code]);
    assert.deepEqual(await rows(), [[200, "gateway_stopped"], [503, "gateway_stopped"]]);
    paused.process.signal("SIGCONT");
    const texts = await Promise.all([restOfLong(), restOfShort()]);
    for (const text of texts) assert.match(text, /data: \[DONE\]/);

    const seen = await receipts();
    assert.deepEqual(
      seen.map(({ status, usage, settled }) => [
        status,
        usage.output_tokens,
        usage.estimated,
        settled,
      ]),
      [["settled", 300, undefined, "0.30"], ["settled", 100, undefined, "0.10"]],
    );
    await until("the node has written its own rows instead", async () => {
      return JSON.stringify(await rows()) === "[[200,null],[200,null]]";
    }, 30);
    const { data } = await other.get(key, "/v1/usage");
    assert.deepEqual(data.map(({ id }: Json) => id).sort(), ids.toSorted());
    const balance = await other.get(key, "/v1/balance");
    assert.deepEqual([balance.available_balance, balance.frozen_balance], ["99.60", "0.00"]);
    await other.verify();
  },
);
