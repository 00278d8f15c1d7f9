import type { Queries } from "../../src/platform/database/database.ts";
import { ConnectionError } from "../../src/platform/database/storage_error.ts";
import { MINUTE_MS } from "../../src/domain/limits/limiter.ts";
import type { LoanRequest } from "../../src/domain/limits/rate_loans.ts";
import { SharedRateLimiter } from "../../src/domain/limits/shared_rate.ts";
import { type FakeTime, fakeTime } from "./fake_time.ts";

/** What a test sees of a node: one whose database is a model of `rate_lend`, in time that stands still. */
export interface RateNode extends AsyncDisposable {
  limiter: SharedRateLimiter;
  time: FakeTime;
  /** Each query, as the loans it asked for. */
  queries: LoanRequest[][];
  warnings: string[];
  errors: number;
  deletions: number;
  /** Until a bucket is full again; other nodes may change it. */
  levels: Map<string, number>;
  database: "up" | "down" | "gone" | "hangs" | "slow";
  /** Lets a slow database answer. */
  answer(): Promise<void>;
  nodes: number;
  /** Takes one of `perMinute`, and answers whether it passed and how many are left. */
  take(perMinute: number, amount?: number, key?: string): Promise<[allowed: boolean, left: number]>;
  /** The same, if it needs no query. */
  readonly size: number;
  takeNow(perMinute: number, amount?: number): boolean | "asks";
}

export function openRateNode(): RateNode {
  const time = fakeTime();
  const fullAt = new Map<string, number>();
  const slow: (() => void)[] = [];
  const lend = (asks: LoanRequest[]) =>
    asks.map(({ key, settle, need, want }, i) => {
      const now = performance.now();
      const level = Math.max(0, Math.max(0, (fullAt.get(key) ?? 0) - now) + settle);
      const lent = MINUTE_MS - level + 1e-3 >= need
        ? Math.min(want, Math.max(MINUTE_MS - level, need))
        : 0;
      fullAt.set(key, now + level + lent);
      return { n: i + 1, lent, level: level + lent };
    });
  const sql = (strings: TemplateStringsArray, ...values: unknown[]) => {
    if (strings[0]!.includes("delete from rate_bucket")) {
      node.deletions++;
      return Promise.resolve([]);
    }
    const [keys, settles, needs, wants] = values as [string[], number[], number[], number[]];
    const asks = keys.map((key, i) => ({
      key,
      settle: settles[i]!,
      need: needs[i]!,
      want: wants[i]!,
    }));
    node.queries.push(asks);
    switch (node.database) {
      case "hangs":
        return new Promise(() => {});
      case "down":
        return Promise.reject(new Error("no function rate_lend"));
      case "gone":
        return Promise.reject(new ConnectionError("CONNECTION_CLOSED", "away"));
      case "slow":
        return new Promise((resolve) => slow.push(() => resolve(lend(asks))));
      case "up":
        return Promise.resolve(lend(asks));
    }
  };
  const log = {
    warn: (text: string) => void node.warnings.push(text),
    error: () => void node.errors++,
  };
  const limiter = new SharedRateLimiter(sql as unknown as Queries, {
    nodes: () => node.nodes,
    log,
  });
  const node: RateNode = {
    limiter,
    time,
    queries: [],
    warnings: [],
    errors: 0,
    deletions: 0,
    levels: fullAt,
    database: "up",
    nodes: 1,
    async take(perMinute, amount = 1, key = "key") {
      const taking = limiter.take(key, perMinute, amount, performance.now());
      if (taking instanceof Promise) await time.advance(0);
      const { allowed, remaining } = await taking;
      return [allowed, remaining];
    },
    get size() {
      return limiter.size;
    },
    takeNow(perMinute, amount = 1) {
      const taken = limiter.take("key", perMinute, amount, performance.now());
      return taken instanceof Promise ? "asks" : taken.allowed;
    },
    async answer() {
      for (const resolve of slow.splice(0)) resolve();
      await time.advance(0);
    },
    async [Symbol.asyncDispose]() {
      node.database = "up";
      const closing = limiter[Symbol.asyncDispose]();
      await time.advance(2_000);
      await closing;
      time[Symbol.dispose]();
    },
  };
  return node;
}
