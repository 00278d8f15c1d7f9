import assert from "node:assert/strict";
import { type ChatGateway, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { openOwnPostgres } from "../helpers/own_postgres.ts";

const CONFIG = new URL("../helpers/chat_config.yaml", import.meta.url);
/** Only a server can go away by itself, or lock a table for another session. */
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

async function chatFor(gateway: Pick<ChatGateway, "chat">, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const res = await gateway.chat("talk", "Hello");
    assert.equal(res.status, 200, await res.clone().text());
    await res.body?.cancel();
    ids.push(res.headers.get("x-request-id")!);
  }
  return ids;
}

/** Notes the client's statement of every insert into the log. */
async function noteStatements({ gateway: { database: { sql } } }: ChatGateway): Promise<void> {
  await sql.unsafe(`
    create table seen (statement text);
    create function note_statement() returns trigger language plpgsql as $$
    begin
      insert into seen values (current_query());
      return null;
    end $$;
    create trigger note after insert on request for each statement execute function note_statement();
  `).simple();
}

Deno.test("under load the rows of the log travel in statements of the ledger", async () => {
  await using gateway = await openChatGateway();
  const { sql } = gateway.gateway.database;
  await chatFor(gateway, 1);
  await gateway.get("/v1/requests").then((res) => res.body?.cancel());
  await noteStatements(gateway);
  const ids = (await Promise.all(Array.from({ length: 8 }, () => chatFor(gateway, 25)))).flat();
  const unknown = await gateway.chat("absent", "Hello");
  await unknown.body?.cancel();
  await chatFor(gateway, 1);
  await gateway.get("/v1/requests").then((res) => res.body?.cancel());
  const logged = new Set((await sql<{ id: string }[]>`select id from request`).map(({ id }) => id));
  assert.ok(ids.every((id) => logged.has(id)));
  assert.ok(logged.has(unknown.headers.get("x-request-id")!));
  const [seen] = await sql<[{ own: number; shared: number }]>`
    select count(*) filter (where statement like '%ledger_run%')::int as shared,
           count(*) filter (where statement not like '%ledger_run%')::int as own from seen`;
  // The last ones: reading the log writes what waits.
  assert.ok(seen.own <= 2 && seen.shared >= 5, JSON.stringify(seen));
  const [receipts] = await sql<[{ all: number; with_key: number; with_metadata: number }]>`
    select count(*)::int as all, count(key_id)::int as with_key, count(metadata)::int as with_metadata
      from receipt where state = 'settled'`;
  assert.deepEqual(receipts, { all: 202, with_key: 202, with_metadata: 0 });
});

Deno.test("a log that cannot be written fails no chat, and its rows are counted", async () => {
  await using gateway = await openChatGateway();
  const { sql } = gateway.gateway.database;
  await sql`alter table request rename to gone`;
  const ids = await chatFor(gateway, 5);
  await sql`alter table gone rename to request`;
  for (const id of ids) {
    const receipt = await (await gateway.get(`/v1/usage/${id}`)).json();
    assert.equal(receipt.status, "settled");
  }
  await gateway.verify();
});

Deno.test(
  "chats do not wait for a log that is locked, and are logged afterwards",
  ON_SERVER,
  async () => {
    await using gateway = await openChatGateway({ timing: { requestLog: { gatherMs: 60_000 } } });
    const { sql } = gateway.gateway.database;
    await chatFor(gateway, 1);
    let ids: string[] = [];
    await sql.begin(async (locking) => {
      await locking`lock table request in access exclusive mode`;
      const before = performance.now();
      ids = await chatFor(gateway, 5);
      assert.ok(performance.now() - before < 2_000);
    });
    const { data } = await (await gateway.get("/v1/requests?endpoint=chat&limit=100")).json();
    const logged = data.map(({ id }: { id: string }) => id);
    assert.ok(ids.every((id) => logged.includes(id)));
    assert.equal(logged.length, 6, "and once");
  },
);

interface Seen {
  readonly id: string;
  readonly status: number;
  /** It came after authentication: the key was valid. */
  readonly hadKey: boolean;
}

Deno.test(
  "every 200 has a receipt and a row, every refused request a row, under load and a restart of Postgres",
  ON_SERVER,
  async () => {
    await using own = await openOwnPostgres();
    await using gateway = await openGateway({
      store: own.store,
      config: await Deno.readTextFile(CONFIG),
    });
    const credit = { kind: "cash", amount: "100", reference: "start" };
    const credited = await gateway.admin(
      "POST",
      `/accounts/${gateway.account}/credits`,
      credit,
    );
    assert.equal(credited.status, 201, await credited.text());
    const seen: Seen[] = [];
    let isOver = false;
    const send = async (model: string, stream: boolean) => {
      const res = await gateway.fetch("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }),
      });
      await res.text();
      const hadKey = res.headers.has("x-ratelimit-limit");
      seen.push({ id: res.headers.get("x-request-id")!, status: res.status, hadKey });
    };
    const clients = Array.from({ length: 8 }, async (_, n) => {
      while (!isOver) await send(n % 4 === 3 ? "absent" : "talk", n % 2 === 1);
    });
    const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
    await pause(700);
    await own.server.kill();
    await pause(500);
    await own.server.restart();
    const served = () => seen.filter(({ status }) => status === 200).length;
    const before = served();
    await until("chats are served again", () => served() > before + 50, 30);
    isOver = true;
    await Promise.all(clients);

    const { sql } = gateway.gateway.database;
    const rowsOf = async () => {
      await gateway.get("/v1/requests?limit=1").then((res) => res.body?.cancel());
      const rows = await sql<{ id: string; n: number }[]>`
        select id, count(*)::int as n from request where endpoint = 'chat' group by id`;
      return new Map(rows.map(({ id, n }) => [id, n]));
    };
    const settledIds = async () => {
      const settled = await sql<
        { id: string }[]
      >`select id from final_receipt where state = 'settled'`;
      return new Set(settled.map(({ id }) => id));
    };
    const missing = async () => {
      const [rows, settled] = [await rowsOf(), await settledIds()];
      return seen.filter(({ id, status, hadKey }) =>
        (hadKey && !rows.has(id)) || (status === 200 && !settled.has(id))
      );
    };
    await until("nothing is missing", async () => (await missing()).length === 0, 20);
    assert.ok([...(await rowsOf()).values()].every((n) => n === 1), "each once");
    assert.ok(seen.some(({ status }) => status === 404) && served() > 50);
    const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
    assert.ok(ok, JSON.stringify(checks));
  },
);
