import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type CopiedTable,
  copyDatabase,
  TABLES_LEFT_OUT,
} from "../../src/platform/database/copy_database.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { runCliHere } from "../helpers/run_cli.ts";

const NEEDS_SERVER = Deno.env.get("TEST_DATABASE_URL") === undefined;

const cli = async (...args: string[]) => {
  const { code, text: out } = await runCliHere(args);
  return { code, out };
};

Deno.test({
  name:
    "gateway move takes accounts, money, tasks, files, keys and webhooks to a server, and warns where it was forgotten",
  ignore: NEEDS_SERVER,
  async fn() {
    await using embedded = await freshDatabase({ isEmbedded: true });
    await using server = await freshDatabase({ isEmbedded: false });
    const moved = { ...server, dataDir: embedded.dataDir };
    const seen = { key: "", task: "", endpoint: "", secret: "", balance: {}, requests: 0 };
    let bytes: Uint8Array;
    {
      await using gateway = await openMediaGateway({
        ...{ config: nodeConfig(""), store: embedded, cash: "10" },
      });
      const { id } = await gateway.submit(
        "/v1/images/generations",
        { model: "image-model", prompt: "a tide", size: "64x64" },
        { prefer: "respond-async" },
      );
      const done = await gateway.ended(id);
      assert.equal(done.status, "succeeded");
      bytes = await (await fetch(done.output[0].url)).bytes();
      const chat = { model: "talk", messages: [{ role: "user", content: "x" }] };
      assert.equal((await (await gateway.post("/v1/chat/completions", chat)).json()).model, "talk");
      const made = await (await gateway.post("/v1/webhook_endpoints", {
        url: "https://hooks.example/in",
      })).json();
      const balance = await gateway.balance();
      Object.assign(seen, {
        key: gateway.key,
        task: id,
        endpoint: made.id,
        secret: made.secret,
        balance,
      });
    }
    {
      await using gateway = await openMediaGateway({ config: nodeConfig(""), store: moved });
      assert.match(gateway.logged(), /database is empty but the data folder has one/);
      // The account that this start made must not be there for a move.
      await gateway.gateway.database.sql`truncate account cascade`;
    }
    const result = await cli("move", "--from", embedded.dataDir, "--to", server.databaseUrl!);
    assert.equal(result.code, 0, result.out);
    assert.match(result.out, /every table is the same, and the ledger is verified/);

    await using gateway = await openMediaGateway({ config: nodeConfig(""), store: moved });
    assert.doesNotMatch(gateway.logged(), /database is empty/);
    const headers = { authorization: `Bearer ${seen.key}` };
    const read = async (path: string) => await (await gateway.get(path, headers)).json();
    const { available_balance, frozen_balance } = await read("/v1/balance");
    assert.deepEqual({ available: available_balance, frozen: frozen_balance }, seen.balance);
    const task = await read(`/v1/tasks/${seen.task}`);
    assert.deepEqual(
      await (await fetch(task.output[0].url)).bytes(),
      bytes,
      "files are still there",
    );
    assert.equal((await read(`/v1/webhook_endpoints/${seen.endpoint}/secret`)).secret, seen.secret);
    await gateway.verify();

    const again = await cli("move", "--from", embedded.dataDir, "--to", server.databaseUrl!);
    assert.equal(again.code, 1);
    assert.match(again.out, /has accounts already/);
    const nowhere = await cli(
      "move",
      "--from",
      join(embedded.dataDir, "x"),
      "--to",
      "postgres://x/y",
    );
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.out, /There is no embedded database/);
  },
});

Deno.test({
  name:
    "a copy that is cut short leaves the target empty, and the next one is complete; numbers go on after the last",
  ignore: NEEDS_SERVER,
  async fn() {
    await using embedded = await freshDatabase({ isEmbedded: true });
    await using server = await freshDatabase({ isEmbedded: false });
    await using source = await embedded.open();
    await using target = await server.open();
    await source.sql`
      insert into account (id, name) select 'acc_' || n, 'a, "b" \\ ' || n from generate_series(1, 20) n`;
    await source.sql`
      insert into change (topic, subject) select 'account', n::text from generate_series(1, 2500) n`;
    await target.sql`insert into change (topic, subject) values ('account', 'of the target')`;

    let tables = 0;
    await assert.rejects(
      copyDatabase(source.sql, target.sql, {
        onTable() {
          if (++tables === 20) throw new Error("cut short");
        },
      }),
      /cut short/,
    );
    assert.equal((await target.sql`select from account`).length, 0);
    const [before] = await target.sql`select subject from change`;
    assert.equal(before!.subject, "of the target");

    const progress: CopiedTable[] = [];
    const copied = await copyDatabase(source.sql, target.sql, {
      onRows: (rows) => progress.push(rows),
    });
    assert.deepEqual(
      progress.filter(({ table }) => table === "change").map(({ rows }) => rows),
      [1000, 2000, 2500],
    );
    assert.deepEqual(
      copied.filter(({ table }) => ["account", "wallet", "change"].includes(table)),
      [{ table: "account", rows: 20 }, { table: "change", rows: 2500 }, {
        table: "wallet",
        rows: 20,
      }],
    );
    const [account] = await target.sql`select name from account where id = 'acc_7'`;
    assert.equal(account!.name, 'a, "b" \\ 7');
    const [next] = await target.sql<[{ number: string }]>`
      insert into change (topic, subject) values ('account', 'c') returning number`;
    const [last] = await source.sql<[{ number: string }]>`select max(number) as number from change`;
    assert.equal(Number(next.number), Number(last.number) + 1);
  },
});

Deno.test({
  name:
    "a copy has every table: old partitions, the bodies of requests, archived months and reserves too",
  ignore: NEEDS_SERVER,
  async fn() {
    await using embedded = await freshDatabase({ isEmbedded: true });
    await using server = await freshDatabase({ isEmbedded: false });
    await using source = await embedded.open();
    await using target = await server.open();
    await source.sql.unsafe(`
      create table webhook_delivery_2025_03 partition of webhook_delivery
        for values from ('dlv_000') to ('dlv_001') with (fillfactor = 80);
      insert into webhook_delivery (id, event_id, account_id, url, destination, state, ended_at)
        values ('dlv_0001', 'evt_0001', 'acc_1', 'https://a.example/', 'a', 'delivered', now());
      create table request_body_2025_03_01 partition of request_body
        for values from ('2025-03-01 00:00:00+00') to ('2025-03-02 00:00:00+00');
      insert into request_body values ('req_1', '2025-03-01 12:00:00+00', '\\x00ff', 2, null, 0);
      create table transfer_2025_03 partition of transfer
        for values from ('2025-03-01 00:00:00+00') to ('2025-04-01 00:00:00+00');
      insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
        values ('t', 'money', 'topup', 'cash:acc_1', 10, 'acc_1', 'credit', '2025-03-05');
      insert into archive_month (month, archived_at) values ('2025-03-01', now());
      insert into archive_file (month, table_name, store, key, rows, amount)
        values ('2025-03-01', 'receipt', 'local', 'archive-receipt-2025-03.csv.gz', 1, 0.5);
      insert into transfer_total values ('2025-03-01', 'acc_1', 'CNY', 'a', 'b', 'capture', 1, 0.5);
      insert into reserve values ('res_1', 'acc_1', 'nod_1', 1, '{b}', '{1.5}', '{0.5}', 60000, now());
      insert into receipt_part values ('req_1', 0, 'drama', 'sim-drama', null, 0.5, 0);`);
    // The default partition of the target has a row of a month that has its own partition in the source.
    await target.sql`
      insert into webhook_delivery (id, event_id, account_id, url, destination, state, ended_at)
      values ('dlv_0002', 'evt_0002', 'acc_1', 'https://b.example/', 'b', 'delivered', now())`;
    const copied = await copyDatabase(source.sql, target.sql);

    const tables = await source.sql<{ name: string }[]>`
      select t.table_name as name from information_schema.tables t
        join pg_class c on c.oid = (t.table_schema || '.' || t.table_name)::regclass
       where t.table_schema not in ('pg_catalog', 'information_schema') and t.table_type = 'BASE TABLE'
         and not c.relispartition`;
    assert.deepEqual(
      [...copied.map(({ table }) => table), ...TABLES_LEFT_OUT].sort(),
      tables.map(({ name }) => name).sort(),
    );
    const filled = copied.filter(({ rows }) => rows > 0).map(({ table }) => table).sort();
    for (
      const table of [
        ...["archive_file", "archive_month", "receipt_part", "request_body", "reserve"],
        ...["transfer_total", "webhook_delivery"],
      ]
    ) assert.ok(filled.includes(table), `${table} is among ${filled}`);
    const [delivery] = await target.sql`
      select d.id, c.relname as partition, c.reloptions as options
        from webhook_delivery d join pg_class c on c.oid = d.tableoid`;
    assert.deepEqual({ ...delivery }, {
      id: "dlv_0001",
      partition: "webhook_delivery_2025_03",
      options: ["fillfactor=80"],
    });
    for (
      const change of [
        "update transfer_2025_03 set amount = 1",
        "delete from transfer_2025_03",
        "truncate transfer_2025_03",
      ]
    ) {
      await assert.rejects(async () => await target.sql.unsafe(change), /never changed or removed/);
    }
  },
});

Deno.test({
  name: "a copy ignores the time limits that a server sets for sessions",
  ignore: NEEDS_SERVER,
  async fn() {
    await using embedded = await freshDatabase({ isEmbedded: true });
    await using server = await freshDatabase({ isEmbedded: false });
    await using source = await embedded.open();
    {
      await using first = await server.open();
      const { database } = first.sql.options;
      await first.sql`alter database ${first.sql(database)} set statement_timeout = '500ms'`;
      await first.sql`
        alter database ${first.sql(database)} set idle_in_transaction_session_timeout = '500ms'`;
    }
    await using target = await server.open();
    let tables = 0;
    const copied = await copyDatabase(source.sql, target.sql, {
      onTable() {
        // Nothing else happens in this process meanwhile, as when the source compares a large table.
        if (++tables === 5) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      },
    });
    assert.ok(copied.length > 20, String(copied.length));
  },
});
