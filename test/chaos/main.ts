/**
 * `deno task chaos --minutes 10 --database embedded|postgres --nodes 3 [--seed N] [--without kind,kind]`
 * `deno task chaos --minutes 20 --only none --think-ms 20`: mixed load alone, and what it uses
 *
 * Random load on real gateway processes while they are killed and paused, their database is cut off, frozen
 * and crashed, and their upstreams and webhook receivers misbehave; then an audit of every promise against
 * the clients' own records. Exits 1 when one was broken. See docs/operate/reliability.md.
 */
import { type ChaosOptions, readOptions } from "./options.ts";
import { runChaos } from "./run.ts";

let options: ChaosOptions;
try {
  options = readOptions(Deno.args);
} catch (error) {
  console.error((error as Error).message);
  Deno.exit(2);
}
Deno.exit(await runChaos(options) ? 0 : 1);
