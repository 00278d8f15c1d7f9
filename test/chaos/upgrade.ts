/**
 * `deno task upgrade [REF] [options of deno task chaos]`
 *
 * An upgrade under load: nodes of an earlier tree (a tag or a commit; without one the newest tag) serve random load and
 * are replaced one at a time by the current tree, on the same database. Then the audit of the chaos run, and no request
 * may have been answered with 5xx or lost. With `--at-once` all nodes stop first. Exits 1 when a promise was broken. See docs/operate/upgrade.md.
 */
import { newestTag } from "./earlier_tree.ts";
import { readOptions } from "./options.ts";
import { runChaos } from "./run.ts";

const [first = "", ...rest] = Deno.args;
const isRef = first !== "" && !first.startsWith("-");
const ref = isRef ? first : await newestTag();
if (ref === null) {
  console.log(
    "SKIPPED: there is no tag to upgrade from. Name a commit: deno task upgrade <commit>",
  );
  Deno.exit(0);
}
const options = readOptions([
  ...["--only", "none", "--nodes", "3", "--minutes", "1"],
  ...(isRef ? rest : Deno.args),
  ...["--upgrade-from", ref],
]);
Deno.exit(await runChaos(options) ? 0 : 1);
