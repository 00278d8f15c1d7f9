import assert from "node:assert/strict";
import type { TaskRow } from "./task.ts";
import { TaskWatch } from "./task_watch.ts";
import { sleep } from "../../lib/timers.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const POLL_MS = 20;

/** Tasks that change when a test says so. */
function openTable(...ids: string[]) {
  const at = new Map(ids.map((id) => [id, 0]));
  const rowOf = (id: string) =>
    ({ id, status: "running", updated_at: new Date(at.get(id)!) }) as TaskRow;
  const during = { round() {} };
  return {
    row: rowOf,
    change: (id: string) => at.set(id, at.get(id)! + 1),
    during,
    watch: new TaskWatch({
      versions(wanted) {
        const versions = wanted.map(rowOf);
        during.round();
        return Promise.resolve(versions);
      },
      rows: (wanted) => Promise.resolve(wanted.map(rowOf)),
      pollMs: POLL_MS,
    }),
  };
}

Deno.test(
  "a change that was not announced is seen although others are announced all the time",
  STRICT,
  async () => {
    const { row, change, watch } = openTable("quiet", "busy");
    const stop = new AbortController();
    const quiet = watch.next(row("quiet"), 5_000, stop.signal);
    const busy = watch.next(row("busy"), 5_000, stop.signal);
    change("quiet");
    let seen: TaskRow | null = null;
    void quiet.then((found) => seen = found);
    for (let ms = 0; ms < 10 * POLL_MS && seen === null; ms += POLL_MS / 4) {
      watch.noticeChange("busy");
      await sleep(POLL_MS / 4);
    }
    stop.abort();
    await busy;
    assert.equal((await quiet)?.id, "quiet");
  },
);

Deno.test("a change that is announced during a round is seen at once", STRICT, async () => {
  const { row, change, watch, during } = openTable("task");
  let rounds = 0;
  // The round has read the row before it changes.
  during.round = () => {
    if (++rounds > 1) return;
    change("task");
    watch.noticeChange("task");
  };
  const stop = new AbortController();
  const seen = await watch.next(row("task"), 5_000, stop.signal);
  assert.deepEqual([seen?.id, rounds], ["task", 1]);
});
