/**
 * `deno task bench <name> [options]`: one benchmark of test/bench. Each measures two things in the
 * same run and prints their ratio: machines differ, so a time alone means little.
 */
const NAMES = [
  "config",
  "models",
  "start",
  "ledger",
  "drivers",
  "chat",
  "dialects",
  "webhooks",
  "tasks",
  "nodes",
  "console",
];

const [name = "", ...args] = Deno.args;
if (!NAMES.includes(name)) {
  console.error(`Usage: deno task bench ${NAMES.join("|")}`);
  Deno.exit(2);
}
const { run } = await import(new URL(`../test/bench/${name}.ts`, import.meta.url).href);
await run(args);
Deno.exit(0);
