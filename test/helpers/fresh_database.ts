import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { type Database, openDatabase } from "../../src/platform/database/postgres.ts";
import {
  readFunctions,
  readMigrations,
  SHIPPED_SQL,
} from "../../src/platform/database/read_sql_files.ts";
import { noLog } from "./logs.ts";

/** A migrated database of one test's own, gone with the test. */
export interface FreshDatabase extends AsyncDisposable {
  /** Unset on the embedded database. */
  databaseUrl?: string;
  dataDir: string;
  /** Opens it as the gateway would. The caller disposes what it opened. */
  open(): Promise<Database>;
}

const EMBEDDED_TEMPLATES = join(import.meta.dirname!, "../../.cache/embedded");

const ON_EMBEDDED = Deno.env.get("TEST_STORE") === "embedded";

/** On the server of `TEST_DATABASE_URL`, or on the embedded database with `TEST_STORE=embedded`. */
export async function freshDatabase({ isEmbedded = ON_EMBEDDED } = {}): Promise<FreshDatabase> {
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-test-" });
  try {
    return isEmbedded ? await freshEmbedded(dataDir) : await freshOnServer(dataDir);
  } catch (error) {
    await Deno.remove(dataDir, { recursive: true });
    throw error;
  }
}

async function freshOnServer(dataDir: string): Promise<FreshDatabase> {
  const server = testServer();
  const template = Deno.env.get("TEST_TEMPLATE") ?? await makeServerTemplate(server);
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  await maintain(
    server,
    // Ten times cheaper for Postgres than the default, which writes every page to its log.
    (sql) => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`,
  );
  const databaseUrl = urlOf(server, name);
  return {
    databaseUrl,
    dataDir,
    open: () => openDatabase({ databaseUrl, dataDir, log: noLog }),
    async [Symbol.asyncDispose]() {
      await maintain(server, (sql) => sql`drop database ${sql(name)} with (force)`);
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/**
 * Held, never used: while a program holds a compiled module, V8 gives it to every thread that compiles
 * the same one, and each embedded database after the first starts in half the time.
 */
let engineCode: WebAssembly.Module | undefined;

/** The folder of the engine's package; its name ends with the version. */
function engine(): string {
  return dirname(findPackageJSON("@electric-sql/pglite", import.meta.url)!);
}

async function freshEmbedded(dataDir: string): Promise<FreshDatabase> {
  engineCode ??= await WebAssembly.compile(await Deno.readFile(join(engine(), "dist/pglite.wasm")));
  await copyEmbedded(dataDir);
  return {
    dataDir,
    open: () => openDatabase({ dataDir, log: noLog }),
    [Symbol.asyncDispose]: () => Deno.remove(dataDir, { recursive: true }),
  };
}

/** Puts a migrated embedded database into a data folder: a start that creates one takes ten times as long. */
export async function copyEmbedded(dataDir: string): Promise<void> {
  copyFolder(join(await makeEmbeddedTemplate(), "postgres"), join(dataDir, "postgres"));
}

function testServer(): string {
  const url = Deno.env.get("TEST_DATABASE_URL");
  if (url === undefined) {
    throw new Error(
      "Tests of the store need a Postgres: run them through `deno task test [file]`, or start one " +
        "with `deno run -A scripts/postgres.ts` and set TEST_DATABASE_URL to what it prints.",
    );
  }
  return url;
}

/** Makes the migrated database that tests clone, unless it is there, and answers its name. */
export async function makeServerTemplate(server: string): Promise<string> {
  const name = `template_${await fingerprint()}`;
  await maintain(server, async (sql) => {
    // Test files run in parallel processes: one makes it, the others wait here.
    await sql`select pg_advisory_lock(hashtext(${name}))`;
    if ((await sql`select from pg_database where datname = ${name}`).length === 1) return;
    // Renamed only when complete, so that a half-made one is never cloned.
    const making = `${name}_making`;
    await sql`drop database if exists ${sql(making)} with (force)`;
    await sql`create database ${sql(making)}`;
    await maintain(urlOf(server, making), prepare);
    await sql`alter database ${sql(making)} rename to ${sql(name)}`;
  });
  return name;
}

/** As the first start of a gateway does. */
async function prepare(sql: postgres.Sql): Promise<void> {
  await migrate(sql);
  await createMissingPartitions(sql, { isStart: true });
}

/** The same for the embedded database: a migrated folder that tests copy. */
export async function makeEmbeddedTemplate(): Promise<string> {
  const ready = join(EMBEDDED_TEMPLATES, await fingerprint(engine()));
  try {
    await Deno.stat(ready);
    return ready;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  await Deno.mkdir(EMBEDDED_TEMPLATES, { recursive: true });
  const making = await Deno.makeTempDir({ dir: EMBEDDED_TEMPLATES, prefix: "making-" });
  {
    await using database = await openDatabase({ dataDir: making, log: noLog });
    await prepare(database.sql);
  }
  try {
    await Deno.rename(making, ready);
  } catch {
    // Another process was quicker; its template is as good.
    await Deno.remove(making, { recursive: true });
  }
  await removeOldTemplates();
  return ready;
}

async function removeOldTemplates(): Promise<void> {
  const yesterday = Date.now() - 86_400_000;
  for await (const { name } of Deno.readDir(EMBEDDED_TEMPLATES)) {
    const path = join(EMBEDDED_TEMPLATES, name);
    const { mtime } = await Deno.stat(path);
    if (Number(mtime) < yesterday) await Deno.remove(path, { recursive: true });
  }
}

/** Changes with any file of SQL, so a template made by older code is never used. */
async function fingerprint(made = ""): Promise<string> {
  const files = [
    ...await readMigrations(SHIPPED_SQL.schema),
    ...await readFunctions(SHIPPED_SQL.functions!),
  ];
  const text = made + files.map(({ file, checksum }) => file + checksum).join();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex().slice(0, 16);
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function maintain<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice() {} });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

/** A thousand small files: waiting for each one would take several times as long. */
function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { mode: 0o700 });
  for (const entry of Deno.readDirSync(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) copyFolder(source, target);
    else Deno.copyFileSync(source, target);
  }
}
