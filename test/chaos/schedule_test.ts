import assert from "node:assert/strict";
import { type ChaosOptions, readOptions } from "./options.ts";
import { planFaults } from "./schedule.ts";

const options = (...args: string[]): ChaosOptions => readOptions(args);

Deno.test("the same seed plans the same faults, another seed others", () => {
  const planned = (seed: string) => planFaults(options("--minutes", "10", "--seed", seed));
  assert.deepEqual(planned("1"), planned("1"));
  assert.notDeepEqual(planned("1"), planned("2"));
  assert.ok(planned("1").length > 100, `${planned("1").length} faults in ten minutes`);
});

Deno.test("faults that are switched off are not planned, nor those that need a server without one", () => {
  const kinds = (...args: string[]) =>
    new Set(planFaults(options("--minutes", "10", "--seed", "3", ...args)).map(({ kind }) => kind));
  assert.ok(kinds().has("kill") && kinds().has("postgres") && kinds().has("long_pause"));
  assert.ok(!kinds("--without", "kill,postgres").has("kill"));
  const embedded = kinds("--database", "embedded");
  for (const kind of ["cut", "freeze", "delay", "postgres"] as const) {
    assert.ok(!embedded.has(kind), kind);
  }
  assert.deepEqual([...kinds("--only", "pause")], ["pause"]);
});

Deno.test("an unknown fault or check is refused with the list of those there are", () => {
  assert.throws(() => options("--without", "earthquake"), /there is no fault earthquake.*kill/s);
  assert.throws(() => options("--tolerate", "luck"), /there is no check luck.*billed_in_full/s);
  assert.throws(() => options("--database", "embedded", "--nodes", "3"), /one process/);
});

Deno.test("an upgrade needs nodes that remain, and no other fault that stops them", () => {
  const from = ["--upgrade-from", "v1"];
  assert.throws(() => options(...from, "--nodes", "1", "--only", "none"), /--nodes 2 or more/);
  assert.throws(() => options(...from), /--without kill,stop,pause/);
  const { upgradeFrom, isAtOnce, faults } = options(...from, "--only", "cut");
  assert.deepEqual([upgradeFrom, isAtOnce, [...faults]], ["v1", false, ["cut"]]);
});
