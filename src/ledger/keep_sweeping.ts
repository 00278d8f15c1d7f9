import type { Queries } from "../store/database.ts";
import { isStorageDown } from "../store/storage_error.ts";
import type { Resolution } from "./settle.ts";
import { sweep } from "./sweep.ts";
import { rollUpUsage } from "./usage_days.ts";

export interface SweepingOptions {
  onLoss(resolution: Resolution): void;
  log: (level: "info" | "error", message: string, fields?: Record<string, unknown>) => void;
}

const EVERY_MS = 5_000;

/** Sweeps every few seconds until disposed. Every node does; they do not get in each other's way. */
export function keepSweeping(sql: Queries, { onLoss, log }: SweepingOptions): AsyncDisposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function run(): Promise<void> {
    try {
      const swept = await sweep(sql, onLoss);
      if (swept.holds + swept.pots + swept.plans > 0) log("info", "swept the ledger", { ...swept });
      await rollUpUsage(sql);
    } catch (error) {
      // While the database is away everybody says so already.
      if (!isClosed && !isStorageDown(error)) log("error", "cannot sweep the ledger", { error });
    }
    if (!isClosed) wait();
  }
  function wait(): void {
    timer = setTimeout(() => running = run(), EVERY_MS);
    Deno.unrefTimer(timer);
  }
  wait();
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
