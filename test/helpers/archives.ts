import { Stores } from "../../src/domain/files/stores.ts";
import { rollUpUsage } from "../../src/domain/ledger/usage_days.ts";
import type { Config } from "../../src/platform/config/config.ts";
import {
  type RetentionDeps,
  type StorageSweep,
  sweepStorage,
} from "../../src/workflows/retention/sweep_storage.ts";
import { noLog } from "./logs.ts";
import type { TestLedger } from "./open_ledger.ts";

/** The file store of a test, and what removes old months of its ledger. */
export interface TestArchives extends AsyncDisposable {
  readonly folder: string;
  /** A test may change it. */
  readonly keep: { moneyMonths: number };
  readonly deps: RetentionDeps;
  /** Sums usage, then archives what is due. A step by that name ends the work, as a crash would. */
  sweep(crashAfter?: string): Promise<StorageSweep>;
}

export class Crash extends Error {}

/** Keeps three months of money, unless the test says otherwise. */
export async function openArchives({ sql }: TestLedger): Promise<TestArchives> {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-archives-" });
  const keep = { moneyMonths: 3, taskDays: 90, webhookDays: 30 };
  const storage = { files: "local", s3: null, keep };
  const logs = { keepDays: 30, auditKeepDays: 400 };
  const config = { storage, logs, responses: { keepDays: 30 } } as unknown as Config;
  const stores = new Stores(folder, () => config.storage);
  const deps: RetentionDeps = { sql, stores, config: () => config, log: noLog, leaseSeconds: 0 };
  return {
    folder,
    keep,
    deps,
    async sweep(crashAfter) {
      await rollUpUsage(sql);
      return await sweepStorage({
        ...deps,
        afterStep(step) {
          if (step === crashAfter) throw new Crash(step);
        },
      });
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
