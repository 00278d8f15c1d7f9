import { ConnectionError } from "../../src/platform/database/storage_error.ts";
import type { Item } from "../../src/domain/ledger/item.ts";
import {
  type PendingOptions,
  PendingSettlements,
} from "../../src/domain/ledger/pending_settlements.ts";
import { type FakeTime, fakeTime } from "./fake_time.ts";
import { recordLog } from "./logs.ts";

export const item = (id: string): Item => ({ op: "settle", id, num: "1", den: "2", units: "0" });
export const SIZE = JSON.stringify(item("a")).length;
export const away = () => new ConnectionError("CONNECTION_CLOSED", "away");
export const locked = () => Object.assign(new Error("locked"), { code: "55P03" });

export interface PendingRun {
  time: FakeTime;
  pending: PendingSettlements;
  /** What was tried, with the time since the start. */
  tries: [id: string, at: number][];
  dropped: string[];
  logged: [level: string, message: string][];
  /** What each report of success counted. */
  completed: unknown[];
  failure: (id: string) => Error | null;
}

/** Settlements that wait in memory, in time that the test advances. */
export async function withRun(
  work: (run: PendingRun) => Promise<void>,
  options: PendingOptions = {},
) {
  using time = fakeTime();
  const start = performance.now();
  const run: PendingRun = {
    time,
    tries: [],
    dropped: [],
    logged: [],
    completed: [],
    failure: away,
    pending: new PendingSettlements({
      settle({ id }) {
        run.tries.push([id, performance.now() - start]);
        const failure = run.failure(id);
        return failure === null ? Promise.resolve() : Promise.reject(failure);
      },
      drop: (id) => run.dropped.push(id),
      log: recordLog((level, message, fields) => {
        run.logged.push([level, message]);
        if (message.startsWith("settlements completed")) run.completed.push(fields!.settlements);
      }),
      ...options,
    }),
  };
  await work(run);
  run.failure = () => null;
  const closing = run.pending[Symbol.asyncDispose]();
  await time.advance(5_000);
  await closing;
}

export const messages = ({ logged }: PendingRun) => logged.map(([, message]) => message);
