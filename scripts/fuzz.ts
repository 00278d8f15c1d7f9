/**
 * `deno task fuzz [target] [--seconds N] [--seed S]`: tries generated inputs on one target or on all.
 * `deno task fuzz target --input file`: tries one input again.
 *
 * An input that fails is kept in test/fuzz/corpus/<target>/, where every test run tries it first.
 */
import { parseArgs } from "node:util";
import { targetNames } from "../test/fuzz/corpus.ts";
import { fuzz, replay } from "../test/fuzz/runner.ts";

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    input: { type: "string" },
  },
});
// Some targets need a database.
if (Deno.env.get("TEST_DATABASE_URL") === undefined) Deno.env.set("TEST_STORE", "embedded");
const known = targetNames();
const unknown = positionals.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`There is no target ${unknown}. Targets: ${known.join(", ")}`);
  Deno.exit(2);
}

if (values.input !== undefined) {
  const reason = await replay(positionals[0]!, values.input);
  console.log(reason ?? "passed");
  Deno.exit(reason === null ? 0 : 1);
}

const seed = Number(values.seed);
let failed = 0;
for (const name of positionals.length > 0 ? positionals : known) {
  const { runs, failure } = await fuzz(name, { seed, seconds: Number(values.seconds) });
  console.log(`${name}: ${runs} inputs, seed ${seed}${failure === null ? "" : ", FAILED"}`);
  if (failure === null) continue;
  failed++;
  console.log(`${failure.reason}\nreplay: deno task fuzz ${name} --input ${failure.file}`);
}
Deno.exit(failed > 0 ? 1 : 0);
