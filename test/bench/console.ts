/**
 * The console's overview for an account with a million receipts, beside one that has never called and one
 * that has called ten times. `--rows=N` for another number.
 */
import { Visitor } from "../helpers/visitor.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { median, printTable } from "./load.ts";
import { openGround, startGateway } from "./servers.ts";
import { noLog } from "../helpers/logs.ts";

const GOAL = 3;
const TURNS = 7;
const PAGES_PER_TURN = 25;

export async function run(args: string[] = []): Promise<void> {
  const option = args.find((arg) => arg.startsWith("--rows="))?.split("=")[1];
  const rows = Number(option ?? 1_000_000);
  await using ground = await openGround();
  const config = new URL("../../gateway.yaml", import.meta.url).pathname;
  await using gateway = await startGateway(config, ground.databaseUrl, ground.dataDir);
  await using database = await openDatabase({
    databaseUrl: ground.databaseUrl,
    dataDir: "",
    log: noLog,
  });
  const { sql } = database;
  const seededAt = performance.now();
  const readers: [name: string, visitor: Visitor][] = [];
  for (const [name, calls] of [["none", 0], ["10", 10], [String(rows), rows]] as const) {
    const visitor = new Visitor(gateway.address);
    const email = `reader${calls}@example.org`;
    await visitor.register(email);
    await sql`
      insert into receipt (id, account_id, request_id, model, state, scale, amount, units, allocations, held, taken,
                           shortfall, beyond_hold, price, usage, created_at, resolved_at, upstream, cost, batch)
      select 'req_' || ${email} || n, p.account_id, 'req_' || n, 'model-' || n % 12, 'settled', 6, 0.01, 0,
             array['cash:' || p.account_id], array[0.01], array[0.003456], 0, false,
             '{"model":"sim-chat","billing_type":"per_call","unit":"call","price":"0.01","book":"default","effective_at":"2026-01-01T00:00:00.000Z"}',
             '{"input_tokens":100,"output_tokens":400,"calls":1}', at, at, 'house/one', 0.001, gen_random_uuid()
        from generate_series(1, ${calls}) n, person p,
             lateral (select now() - interval '1 minute' - n * (interval '89 days' / ${
      Math.max(1, calls)
    })) t (at)
       where p.email = ${email}`;
    readers.push([`${name} receipts`, visitor]);
  }
  await sql`vacuum analyze receipt`;
  // The past has changed, which it never does elsewhere: begin again.
  await sql`
    with gone as (delete from usage_day)
    update usage_watermark set through = '-infinity', oldest_id = ''`;
  for (let more = true; more;) {
    [{ more }] = await sql<[{ more: boolean }]>`select usage_roll_up(50000) as more`;
  }
  console.log(`seeded and added up in ${((performance.now() - seededAt) / 1000).toFixed(0)} s\n`);

  const seen = readers.map((): number[] => []);
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [at, [, visitor]] of readers.entries()) {
      const startedAt = performance.now();
      for (let page = 0; page < PAGES_PER_TURN; page++) await visitor.get("/console?days=90");
      if (turn > 0) seen[at]!.push((performance.now() - startedAt) / PAGES_PER_TURN);
    }
  }
  const [none, few, many] = seen.map(median) as [number, number, number];
  printTable([
    ["GET /console?days=90", "ms a page"],
    ...readers.map(([name], at) => [name, median(seen[at]!).toFixed(1)]),
    ["many beside none", `${(many / none).toFixed(2)} (goal ${GOAL})`],
    ["many beside 10", (many / few).toFixed(2)],
  ]);
  if (many / none > GOAL) Deno.exitCode = 1;
}

if (import.meta.main) await run(Deno.args);
