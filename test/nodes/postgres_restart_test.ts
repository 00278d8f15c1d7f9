import assert from "node:assert/strict";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { decimal } from "../../src/lib/money.ts";
import { eventsOf, until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { noLog } from "../helpers/logs.ts";
import { sleep } from "../../src/lib/timers.ts";

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

const LONG_ANSWER = "hello [[simulate: pace=20ms tokens=100]]";

Deno.test("Postgres crashes under load: 503 while it is away, then full service, and nothing is lost or free", async () => {
  await using parts = new AsyncDisposableStack();
  // What tests usually set would lose the last commits in a crash.
  const server = parts.use(await startPostgres({ settings: DURABLE }));
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-restart-" });
  parts.defer(() => Deno.remove(dataDir, { recursive: true }));
  const open = () => openDatabase({ databaseUrl: server.url, dataDir, log: noLog });
  {
    await using database = await open();
    await migrate(database.sql);
  }
  const store = { databaseUrl: server.url, dataDir, open, async [Symbol.asyncDispose]() {} };
  const config = nodeConfig("storage: { queue: postgres, sessions: postgres }");
  const first = parts.use(await openMediaGateway({ store, config, cash: "1000" }));
  const second = parts.use(await openGateway({ store, config, beside: first }));
  const post = (node: { address: string }, path: string, body: unknown, key: string) =>
    fetch(node.address + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${first.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify(body),
    });

  const accepted = new Set<string>();
  /** What answers said of their usage, by request. */
  const served = new Map<string, Usage>();
  const refusals = new Set<string>();
  let [chats, streams, unavailable, orders, isOver] = [0, 0, 0, 0, false];
  const clients = [first, second].flatMap((node) => [
    (async () => {
      while (!isOver) {
        const order = `order-${++orders}`;
        // The same key until a node accepts: a retry must not create another task.
        while (!isOver) {
          const res = await post(node, "/v1/images/generations", {
            model: "image-model",
            prompt: order,
          }, order);
          const { id, error } = await res.json();
          if (res.status === 202) {
            accepted.add(id);
            break;
          }
          unavailable++;
          refusals.add(`${res.status} ${error.code}`);
          await sleep(50);
        }
        await sleep(20);
      }
    })(),
    (async () => {
      while (!isOver) {
        const res = await post(node, "/v1/chat/completions", {
          model: "talk",
          messages: [{ role: "user", content: "hello" }],
        }, crypto.randomUUID());
        const { error, usage } = await res.json();
        if (res.status === 200) {
          chats++;
          served.set(res.headers.get("x-request-id")!, usage);
        } else refusals.add(`${res.status} ${error.code}`);
        await sleep(20);
      }
    })(),
    ...Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const res = await post(node, "/v1/chat/completions", {
          model: "talk",
          stream: true,
          stream_options: { include_usage: true },
          messages: [{ role: "user", content: LONG_ANSWER }],
        }, crypto.randomUUID());
        if (res.status === 200) {
          const events = await eventsOf(res);
          assert.equal(events.at(-1), "[DONE]");
          served.set(res.headers.get("x-request-id")!, events.at(-2).usage);
          streams++;
        } else {
          refusals.add(`${res.status} ${(await res.json()).error.code}`);
        }
        await sleep(50);
      }
    }),
  ]);
  await until("work is under way", () => accepted.size > 10 && chats > 10, 60);
  await server.kill();
  await until("its absence is noticed", () => unavailable > 2, 60);
  for (const node of [first, second]) {
    const ready = await node.fetch("/readyz");
    assert.equal(ready.status, 503, await ready.text());
  }
  // As long as the streams last that are under way.
  await sleep(3_000);
  await server.restart();
  const [tasksBefore, chatsBefore] = [accepted.size, chats];
  await until(
    "both are served again",
    () => accepted.size > tasksBefore + 10 && chats > chatsBefore + 10,
    120,
  );
  isOver = true;
  await Promise.all(clients);
  assert.deepEqual([...refusals], ["503 storage_unavailable"]);

  const { sql } = first.gateway.database;
  await until("every task is over", async () => {
    const [row] = await sql`select count(*)::int as n from task where completed_at is null`;
    return row!.n === 0;
  }, 120);
  const done = await sql<{ id: string; status: string; error_code: string | null }[]>`
    select id, status, error_code from task`;
  const known = new Map(done.map((row) => [row.id, `${row.status} ${row.error_code}`]));
  const lost = [...accepted].map((id) => known.get(id)).filter((end) => end !== "succeeded null");
  assert.deepEqual(lost, [], "what was accepted is made");
  const receipts = await sql<{ request_id: string; state: string; taken: string }[]>`
    select request_id, state, (select sum(t) from unnest(taken) t) as taken from final_receipt`;
  const billed = new Map(receipts.map(({ request_id, state, taken }) => [
    request_id,
    `${state} ${decimal(taken ?? "0")}`,
  ]));
  assert.equal(billed.size, receipts.length, "one receipt per request");
  const due = (usage: Usage) => BigInt(usage.prompt_tokens + usage.completion_tokens) * 10n ** 6n;
  const wrong = [...served].map(([id, usage]) => [billed.get(id), `settled ${due(usage)}`])
    .filter(([has, should]) => has !== should);
  assert.deepEqual(wrong, [], "what was served is billed");
  const tasks = await sql<{ request_id: string }[]>`
    select request_id from task where status = 'succeeded'`;
  const unpaid = tasks.map(({ request_id }) => billed.get(request_id))
    .filter((bill) => bill !== `settled ${decimal("0.04")}`);
  assert.deepEqual(unpaid, [], "what was made is billed");
  console.log(`${chats} chats, ${streams} streams, ${tasks.length} tasks billed`);
  // One order may have been accepted with the client gone before it heard so: at the very end of each.
  assert.ok(done.length - accepted.size <= 2, `${done.length} made, ${accepted.size} known`);
  await first.verify();
});
