import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { openOwnPostgres } from "../helpers/own_postgres.ts";

/** Lists models, which needs no database once the key is known; the request's id. */
async function listModels(gateway: TestGateway): Promise<string> {
  const res = await gateway.get("/v1/models");
  await res.body?.cancel();
  assert.equal(res.status, 200);
  return res.headers.get("x-request-id")!;
}

async function lostRows(gateway: TestGateway, reason: string): Promise<number> {
  const res = await gateway.fetch("/metrics", {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const pattern = new RegExp(`^tollgate_request_rows_lost_total{reason="${reason}"} (\\d+)$`, "m");
  return Number(pattern.exec(await res.text())?.[1] ?? 0);
}

async function loggedIds(gateway: TestGateway): Promise<string[]> {
  const rows = await gateway.gateway.database.sql<{ id: string }[]>`
    select id from request where endpoint = 'list_models' order by created_at, id`;
  return rows.map(({ id }) => id);
}

function linesWith(gateway: TestGateway, message: string): number {
  return gateway.logged().split(`"message":"${message}"`).length - 1;
}

Deno.test("requests served while the database is away are logged when it is back", async () => {
  await using own = await openOwnPostgres();
  await using gateway = await openGateway({ store: own.store });
  const ids = [await listModels(gateway)];
  await own.server.kill();
  ids.push(await listModels(gateway), await listModels(gateway));
  await own.server.restart();
  const isWritten = async () =>
    (await loggedIds(gateway).catch((): string[] => [])).length === ids.length;
  await until("the rows are written", isWritten, 20);
  assert.deepEqual((await loggedIds(gateway)).sort(), ids.sort());
  assert.equal(await lostRows(gateway, "away"), 0);
});

Deno.test("rows are lost, counted and reported once when the database stays away", async () => {
  await using own = await openOwnPostgres();
  await using gateway = await openGateway({
    store: own.store,
    timing: { requestLog: { gatherMs: 50, awayMs: 100 } },
  });
  await listModels(gateway);
  await own.server.kill();
  for (let n = 0; n < 3; n++) await listModels(gateway);
  await until("the rows are lost", async () => await lostRows(gateway, "away") >= 3, 20);
  await listModels(gateway);
  await until("so is a later one", async () => await lostRows(gateway, "away") === 4, 20);
  assert.equal(linesWith(gateway, "request log rows lost"), 1);
  await own.server.restart();
  const before = (await loggedIds(gateway).catch((): string[] => [])).length;
  const isLogged = async () => {
    await listModels(gateway);
    return (await loggedIds(gateway).catch((): string[] => [])).length > before + 1;
  };
  await until("the log works again", isLogged, 20);
});

Deno.test("rows beyond the limit are lost and counted; the requests are served", async () => {
  await using gateway = await openGateway({
    timing: { requestLog: { gatherMs: 60_000, rowsMax: 2 } },
  });
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push(await listModels(gateway));
  assert.equal(await lostRows(gateway, "full"), 3);
  assert.equal(linesWith(gateway, "request log rows lost"), 1);
  const list = await (await gateway.get("/v1/requests?endpoint=list_models&order=asc")).json();
  assert.deepEqual(list.data.map(({ id }: { id: string }) => id), ids.slice(0, 2));
});

Deno.test("a request on a day without a partition is logged and found", async () => {
  await using gateway = await openGateway();
  const { sql } = gateway.gateway.database;
  const days = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'request'::regclass and c.relname <> 'request_default'`;
  assert.ok(days.length >= 3, "a new database has its first days");
  for (const { name } of days) await sql.unsafe(`drop table ${name}`);
  const id = await listModels(gateway);
  const found = await gateway.get(`/v1/requests/${id}`);
  assert.equal(found.status, 200);
  assert.equal((await found.json()).id, id);
  const [row] = await sql<[{ place: string }]>`
    select tableoid::regclass::text as place from request where id = ${id}`;
  assert.equal(row.place, "request_default");
});

Deno.test("a batch that is written again leaves out the rows that are there", async () => {
  await using gateway = await openGateway();
  const { sql } = gateway.gateway.database;
  const id = await listModels(gateway);
  await until("it is logged", async () => (await loggedIds(gateway)).length === 1);
  const [old] = await sql<[{ at: string }]>`
    select (extract(epoch from created_at) * 1000)::bigint as at from request where id = ${id}`;
  const facts = {
    ...{ account_id: gateway.account, method: "GET", endpoint: "list_models", status: 200 },
    ...{ is_stream: false, duration_ms: 1, first_byte_ms: 1 },
  };
  const other = "req_01k8zq4d6f7g8h9j0k1m2n3p4q";
  const rows = JSON.stringify([
    { ...facts, id, at: Number(old.at) },
    { ...facts, id: other, at: Number(old.at) },
  ]);
  await sql`select request_write(${rows}::text::json, true)`;
  assert.deepEqual((await loggedIds(gateway)).sort(), [id, other].sort());
});
