/**
 * Events per second to a fast receiver: claimed, signed, sent, recorded and logged durably on a real
 * Postgres with its shipped settings, beside a bare loop of `fetch` that signs the same bodies and keeps
 * no record, with the same concurrency and in turns. `--events=N` per round.
 */
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { newId } from "../../src/lib/ids.ts";
import { Outbound } from "../../src/platform/outbound/safe_fetch.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { renderPayload } from "../../src/domain/webhooks/event.ts";
import { openSecretBox } from "../../src/platform/secrets/secret_box.ts";
import { deliveryWorker } from "../../src/domain/webhooks/sender.ts";
import { newWebhookSecret, signedHeaders } from "../../src/domain/webhooks/sign.ts";
import { printTable, takeTurns } from "./load.ts";
import { noLog, recordLog } from "../helpers/logs.ts";

/** 16 events are sent to one destination at once, so this many destinations make the concurrency. */
const DESTINATIONS = 4;
const CONCURRENCY = DESTINATIONS * 16;
const ROUNDS = 5;
const STEPS_AT_ONCE = 256;
const DATA = JSON.stringify({
  task_id: "task_01j0000000000000000000000",
  status: "succeeded",
  output: [{ type: "video", url: `https://files.example/${"x".repeat(120)}` }],
});

export async function run(args: string[] = []): Promise<void> {
  const events = Number(args.find((arg) => arg.startsWith("--events="))?.split("=")[1] ?? 3000);
  await using server = await startPostgres({ settings: DURABLE });
  await using database = await openDatabase({ databaseUrl: server.url, dataDir: "", log: noLog });
  await migrate(database.sql);
  const receiver = await startReceiver();
  try {
    const accounts = Array.from({ length: DESTINATIONS }, () => newId("acc"));
    await database.sql`
      insert into account (id, name) select id, 'bench' from unnest(${accounts}::text[]) id`;
    const ways = {
      ours: () => sendOurs(database, accounts, receiver.url, events),
      bare: () => sendBare(receiver.url, events),
    };
    for (const way of Object.values(ways)) await way(); // for warming up
    const { ours, bare } = await takeTurns(ROUNDS, ways);
    printTable([
      ["events/s", "ours", "bare fetch", "ratio"],
      [
        `${CONCURRENCY} at once`,
        ours!.toFixed(0),
        bare!.toFixed(0),
        (ours! / bare!).toFixed(2),
      ],
    ]);
  } finally {
    await receiver.stop();
  }
}

/** Everything but the end of the tasks: their events stand in the database when the clock starts. */
async function sendOurs(
  { sql }: Database,
  accounts: string[],
  url: string,
  events: number,
): Promise<number> {
  await sql`truncate webhook_event, webhook_delivery, webhook_attempt`;
  const { host } = new URL(url);
  const ids = Array.from({ length: events }, () => newId("evt"));
  const owners = ids.map((_, at) => accounts[at % accounts.length]!);
  await sql`
    with made as (
      insert into webhook_event (id, account_id, task_id, type, data)
      select id, owner, 'task_' || id, 'task.succeeded', ${DATA}
        from unnest(${ids}::text[], ${owners}::text[]) as e (id, owner)
      returning id, account_id)
    insert into webhook_delivery (id, event_id, account_id, url, destination, wake_at)
    select 'dlv_' || substr(id, 5) || '01', id, account_id, ${url}, account_id || '/' || ${host}::text,
           now()
      from made`;
  await sql`analyze webhook_delivery, webhook_event`;
  using outbound = new Outbound({ idleMax: CONCURRENCY });
  const allSent = Promise.withResolvers<void>();
  let sent = 0;
  await using sender = deliveryWorker({
    sql,
    secretBox: openSecretBox([]),
    post: (request) => outbound.fetch(request, { allowPrivate: true }),
    config: () => ({
      webhooks: { retrySeconds: [0, 5], timeoutSeconds: 15, disableAfterDays: 5 },
      storage: { outputs: { urlHours: 24, keepDays: 7 } } as never,
    }),
    renewOutput: (output) => output,
    notify() {},
    onAttempt(outcome) {
      if (outcome !== "delivered") throw new Error(`an event was not taken: ${outcome}`);
      if (++sent === events) allSent.resolve();
    },
    log: recordLog((_level, message, fields) => console.error(message, fields)),
  });
  const startedAt = performance.now();
  const waiting = ids.map((id) => `dlv_${id.slice(4)}01`);
  await Promise.all(Array.from({ length: STEPS_AT_ONCE }, async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await sender.step(id);
  }));
  await allSent.promise;
  return events / ((performance.now() - startedAt) / 1000);
}

async function sendBare(url: string, events: number): Promise<number> {
  const secret = newWebhookSecret();
  const startedAt = performance.now();
  let left = events;
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    while (left-- > 0) {
      const id = newId("evt");
      const now = Math.floor(Date.now() / 1000);
      const body = renderPayload({ id, type: "task.succeeded", created: now, data: DATA });
      const headers = signedHeaders([secret], id, now, body);
      const res = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
      });
      await res.body?.cancel();
      if (!res.ok) throw new Error(`answered ${res.status}`);
    }
  }));
  return events / ((performance.now() - startedAt) / 1000);
}

async function startReceiver(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-net", new URL("./event_receiver.ts", import.meta.url).pathname],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  return {
    url: `http://127.0.0.1:${Number(value)}/hook`,
    async stop() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
    },
  };
}

if (import.meta.main) {
  await run(Deno.args);
  Deno.exit(0);
}
