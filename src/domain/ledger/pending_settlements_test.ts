import assert from "node:assert/strict";
import { join } from "node:path";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import type { Item } from "./item.ts";
import { type PendingOptions, PendingSettlements } from "./pending_settlements.ts";
import { sleep } from "../../lib/timers.ts";
import { recordLog } from "../../../test/helpers/logs.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const item = (id: string): Item => ({ op: "settle", id, num: "1", den: "2", units: "0" });
const away = () => new ConnectionError("CONNECTION_CLOSED", "away");

interface Run extends AsyncDisposable {
  pending: PendingSettlements;
  folder: string;
  settled: string[];
  dropped: string[];
  logged: string[];
  /** What settling fails with; null: it succeeds. */
  failure: (id: string) => Error | null;
  files(): string[];
}

async function open(options: PendingOptions = {}, folder?: string): Promise<Run> {
  const isOwn = folder === undefined;
  const place = folder ?? join(await Deno.makeTempDir(), "settlements");
  const run: Run = {
    folder: place,
    settled: [],
    dropped: [],
    logged: [],
    failure: away,
    files: () => {
      try {
        return [...Deno.readDirSync(place)].map(({ name }) => name);
      } catch {
        return []; // not made yet
      }
    },
    pending: new PendingSettlements({
      settle({ id }) {
        const failure = run.failure(id);
        if (failure !== null) return Promise.reject(failure);
        run.settled.push(id);
        return Promise.resolve();
      },
      drop: (id) => run.dropped.push(id),
      log: recordLog((_, message) => run.logged.push(message)),
      folder: place,
      retryMs: 5,
      retryMaxMs: 10,
      closeMs: 50,
      ...options,
    }),
    async [Symbol.asyncDispose]() {
      await run.pending[Symbol.asyncDispose]();
      if (isOwn) await Deno.remove(join(place, ".."), { recursive: true });
    },
  };
  return run;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, "never happened");
    await sleep(5);
  }
}

Deno.test(
  "waiting settlements are written to disk, settled when possible, and the file is removed",
  STRICT,
  async () => {
    await using run = await open();
    for (const id of ["a", "b"]) assert.ok(run.pending.add(item(id)));
    await until(() => run.files().length === 1);
    assert.deepEqual(run.settled, []);
    run.failure = () => null;
    await until(() => run.pending.size === 0);
    assert.deepEqual(run.settled.toSorted(), ["a", "b"]);
    assert.deepEqual([run.files(), run.dropped], [[], []]);
  },
);

Deno.test("the queue has a limit of entries and of bytes", STRICT, async () => {
  await using few = await open({ countMax: 2 });
  assert.deepEqual(["a", "b", "c"].map((id) => few.pending.add(item(id))), [true, true, false]);
  await using small = await open({ bytesMax: 100 });
  assert.deepEqual(["a", "b"].map((id) => small.pending.add(item(id))), [true, false]);
});

Deno.test(
  "a settlement that can never succeed is dropped and reported, and blocks nothing",
  STRICT,
  async () => {
    await using run = await open();
    run.failure = (id) =>
      id === "bad" ? new Error("there is no such hold") : id === "locked" ? locked : null;
    const locked = Object.assign(new Error("locked"), { code: "55P03" });
    for (const id of ["locked", "bad", "good"]) run.pending.add(item(id));
    await until(() => run.settled.length === 1 && run.dropped.length === 1);
    assert.deepEqual([run.settled, run.dropped, run.pending.size], [["good"], ["bad"], 1]);
    run.failure = () => null;
    await until(() => run.pending.size === 0);
  },
);

Deno.test(
  "settlements left at shutdown are settled at the next start",
  STRICT,
  async () => {
    const folder = join(await Deno.makeTempDir(), "settlements");
    {
      await using first = await open({}, folder);
      first.pending.add(item("a"));
      await first.pending[Symbol.asyncDispose]();
      assert.ok(first.pending.add(item("b")), "of a request that outlived the rest");
    }
    {
      // A process that is killed leaves the files as they are.
      await using killed = await open({}, folder);
      killed.pending.replay();
      assert.equal(killed.pending.size, 2);
    }
    await using next = await open({}, folder);
    next.failure = () => null;
    next.pending.replay();
    await until(() => next.pending.size === 0);
    assert.deepEqual([next.settled.toSorted(), next.files()], [["a", "b"], []]);
    await Deno.remove(join(folder, ".."), { recursive: true });
  },
);

Deno.test(
  "a journal with a damaged line is settled as far as it is readable, and kept",
  STRICT,
  async () => {
    await using run = await open();
    await Deno.mkdir(run.folder, { recursive: true });
    const text = `${JSON.stringify(item("a"))}\n{"op":"settle","id":"b","nu`;
    await Deno.writeTextFile(join(run.folder, "settlements-1.jsonl"), text);
    run.failure = () => null;
    run.pending.replay();
    await until(() => run.pending.size === 0);
    assert.deepEqual([run.settled, run.files()], [["a"], ["settlements-1.jsonl.failed"]]);
  },
);
