import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { importNewApi } from "../src/domain/catalogue/import/import_new_api.ts";
import { freshDatabase } from "./helpers/fresh_database.ts";

const PAGE = Deno.readTextFileSync(new URL("../docs/operate/migrate.md", import.meta.url));
const OPTIONS = { priceList: null, markup: "1", now: Date.now() };

/** A statement of the page, by the comment in its first line. */
function statementFor(database: string): string {
  const found = new RegExp(`\`\`\`sql\\n-- ${database}\\n([^\`]*)\`\`\``).exec(PAGE);
  assert.ok(found !== null, database);
  return found[1]!;
}

/** Columns of new-api's tables, with some that the page does not ask for. Both databases know these types. */
const TABLES = `
create table channels (id integer, type integer, "key" text, name text, status integer, base_url text, other text,
  models text, "group" text, model_mapping text, priority bigint, weight bigint, openai_organization text,
  param_override text, header_override text, status_code_mapping text, channel_info json);
create table options ("key" text, value text);
create table users (id integer, username text, password text, display_name text, email text, "group" text, role integer,
  status integer, quota integer, access_token text, deleted_at timestamp);
create table tokens (id integer, user_id integer, "key" text, name text, status integer, expired_time bigint,
  remain_quota integer, unlimited_quota boolean, model_limits_enabled boolean, model_limits text, allow_ips text,
  "group" text, deleted_at timestamp);
insert into channels values (1, 1, 'sk-of-the-channel', 'main', 1, '', '', 'gpt-4o,gpt-4', 'default', '{"gpt-4":"gpt-4o"}',
  0, 0, null, null, null, '', '{"is_multi_key":true,"multi_key_size":2}');
insert into options values ('ModelRatio', '{"gpt-4o":1.25,"gpt-4":15}'), ('CompletionRatio', '{"gpt-4o":4,"gpt-4":2}'),
  ('SMTPToken', 'secret-of-the-mail');
insert into users values (1, 'ann', 'hash-of-a-password', 'Ann', 'ann@example.com', 'default', 1, 1, 750000, 'access', null),
  (2, 'gone', 'hash', '', '', 'default', 1, 1, 5, 'access', current_timestamp);
insert into tokens values (5, 1, 'sk-of-the-token', 'laptop', 1, -1, 250000, false, false, '', '', '', null);
`;

function assertDump(dump: string): void {
  const { draft, accounts } = importNewApi("dump.json", dump, OPTIONS);
  assert.deepEqual(
    draft.models.map(({ id, upstreams }) => [id, upstreams.map(({ model }) => model)]),
    [
      ["gpt-4o", ["gpt-4o", "gpt-4o"]],
      ["gpt-4", ["gpt-4o", "gpt-4o"]],
    ],
  );
  assert.equal(draft.prices.default!.entries[1]!.output_price, "60.00");
  assert.deepEqual(
    accounts.map(({ name, balance, keys }) => [name, balance, keys.map((key) => key.restrictions)]),
    [["Ann", "1.50", [{ budget: "0.50/total" }]]],
  );
  assert.doesNotMatch(dump, /sk-of-the|hash|access|secret/, "no key and no password leaves");
}

Deno.test("the statement for SQLite makes a dump that can be imported", () => {
  using database = new DatabaseSync(":memory:");
  database.exec(TABLES);
  const row = database.prepare(statementFor("sqlite")).get()!;
  assertDump(String(Object.values(row)[0]));
});

Deno.test("the statement for Postgres makes a dump that can be imported", async () => {
  await using store = await freshDatabase({ isEmbedded: false });
  const sql = postgres(store.databaseUrl!, { max: 1, onnotice() {} });
  try {
    await sql.unsafe(`create schema new_api; set search_path to new_api; ${TABLES}`);
    const [row] = await sql.unsafe(statementFor("postgres"));
    assertDump(JSON.stringify(Object.values(row!)[0]));
  } finally {
    await sql.end();
  }
});
