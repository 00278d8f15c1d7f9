import type { Sql } from "postgres";
import {
  RECEIPT_TABLE,
  TRANSFER_TABLE,
  WEBHOOK_TABLES,
} from "../../src/platform/database/partitioned_tables.ts";
import { createPartitions } from "../../src/platform/database/partitions.ts";

const MONTHS = 12;
const PER_BATCH = 50;
const PRICE =
  '{"book":"default","unit":"1M tokens","model":"sim-chat","billing_type":"token","input_price":"1"}';

/**
 * A year of an account's traffic: receipts with their transfers, and for every ten receipts a task with its event and
 * its delivery, and two rows of the request log. The ledger's rules hold afterwards.
 */
export async function fillHistory(sql: Sql, account: string, receipts: number): Promise<void> {
  const now = new Date();
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + 1));
  const tables = [RECEIPT_TABLE, TRANSFER_TABLE, ...WEBHOOK_TABLES];
  await createPartitions(sql, tables.map((table) => ({ ...table, ahead: MONTHS })), { now: first });
  const indexes = await dropIndexes(sql, "receipt");
  const at =
    `date_trunc('month', now()) - interval '10 months' + n * (interval '10 months' / ${receipts})`;
  await sql.unsafe(
    `
    insert into receipt (id, account_id, request_id, model, kind, state, scale, amount, units, allocations, held, taken,
                         shortfall, beyond_hold, price, usage, created_at, resolved_at, batch)
    select ledger_id_at(at) || lpad(n::text, 16, '0'), $1, 'req_past_' || n, 'sim-chat', 'text', 'settled', 6,
           0.123456, 500, array['cash:' || $1], array[0.123456], array[0.003456], 0, true, '${PRICE}',
           '{"input_tokens":100,"output_tokens":400}', at, at, md5((n / ${PER_BATCH})::text)::uuid
      from generate_series(0, $2::int - 1) n, lateral (select ${at}) as moment (at)`,
    [
      account,
      receipts,
    ],
  );
  for (const definition of indexes) await sql.unsafe(definition);
  await sql`
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at, batch)
    select batch || '/cash:' || account_id, 'money', 'cash:' || account_id, 'revenue', sum(taken[1]), account_id,
           'capture', min(created_at), batch
      from receipt where request_id like 'req_past_%' group by batch, account_id`;
  await sql`
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, reference, created_at)
    select 'credit:' || account_id || ':past', 'money', 'topup', 'cash:' || account_id, sum(taken[1]), account_id,
           'credit', 'past', min(created_at)
      from receipt where request_id like 'req_past_%' group by account_id`;
  await fillTasks(sql);
}

/** Indexes are built ten times faster at the end. The result creates them again. */
async function dropIndexes(sql: Sql, table: string): Promise<string[]> {
  const indexes = await sql<{ name: string; definition: string; constraint: string | null }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition,
           pg_get_constraintdef(c.oid) as constraint
      from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype = 'p'
     where i.indrelid = ${table}::regclass`;
  const definitions: string[] = [];
  for (const { name, definition, constraint } of indexes) {
    await sql.unsafe(
      constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`,
    );
    definitions.push(
      // Of a partitioned table Postgres writes ONLY, which would leave the partitions without.
      constraint === null
        ? definition.replace(" ON ONLY ", " ON ")
        : `alter table ${table} add constraint ${name} ${constraint}`,
    );
  }
  return definitions;
}

/** Each of these receipts is a task's. */
async function fillTasks(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create temporary table past as
    select substr(id, 5) as id, account_id, created_at as at
      from receipt where request_id like 'req_past_%0';
    insert into task (id, account_id, request_id, type, model, status, job, config_version, created_at, deadline_at,
                      deadline_seconds, completed_at)
    select 'task_' || id, account_id, 'req_' || id, 'image', 'sim-image', 'succeeded',
           '{"prompt":"a tide","inputs":[],"parameters":{"n":1,"size":"64x64"}}', 'drill', at, at, 1800, now()
      from past;
    insert into webhook_event (id, account_id, task_id, type, data, created_at)
    select 'evt_' || id, account_id, 'task_' || id, 'task.succeeded', '{"status":"succeeded"}', at from past;
    insert into webhook_delivery (id, event_id, account_id, url, destination, state, attempts, last_status, created_at,
                                  ended_at)
    select 'dlv_' || id || '0', 'evt_' || id, account_id, 'https://hooks.example/in', account_id || ' hooks.example',
           'delivered', 1, 200, at, at
      from past;
    insert into request (id, created_at, account_id, method, endpoint, model, status, is_stream, duration_ms,
                         first_byte_ms, metadata)
    select 'req_' || n || id, now() - interval '1 hour', account_id, 'POST', '/v1/chat/completions', 'sim-chat', 200,
           false, 120, 80, '{"team":"a"}'
      from past, generate_series(1, 2) n;
    drop table past`);
}
