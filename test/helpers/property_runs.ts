/**
 * How a property test plays its histories. `PROPERTY_SEED` and `PROPERTY_PATH`, as printed with a failure, play one again.
 * `PROPERTY_RUNS` plays more.
 */
export function propertyRuns(runs: number): { seed: number; path?: string; numRuns: number } {
  const seed = Number(Deno.env.get("PROPERTY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  const path = Deno.env.get("PROPERTY_PATH");
  const numRuns = Number(Deno.env.get("PROPERTY_RUNS") ?? runs);
  console.log(`PROPERTY_SEED=${seed}, ${numRuns} histories`);
  return { seed, ...(path === undefined ? {} : { path }), numRuns };
}
