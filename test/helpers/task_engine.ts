import { join } from "node:path";
import type { Sql } from "postgres";
import { openAdapters } from "../../providers/registry.ts";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { newId } from "../../src/lib/ids.ts";
import { ConfigStore } from "../../src/platform/config/config_store.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { openFiles } from "../../src/domain/files/open_files.ts";
import { buildCapabilities } from "../../src/app/build_capabilities.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { verifyLedger } from "../../src/domain/ledger/verify.ts";
import { openTasks } from "../../src/app/open_tasks.ts";
import { PublicHosts } from "../../src/platform/outbound/public_hosts.ts";
import { Outbound } from "../../src/platform/outbound/safe_fetch.ts";
import type { JobHandler, JobMessage, Queue } from "../../src/platform/queue/queue.ts";
import type { Database } from "../../src/platform/database/database.ts";
import {
  acceptGeneration,
  type GenerationCall,
} from "../../src/workflows/tasks/accept_generation.ts";
import type { TaskDeps } from "../../src/workflows/tasks/deps.ts";
import { ConfigVersions } from "../../src/workflows/tasks/config_versions.ts";
import { findTask } from "../../src/workflows/tasks/find_task.ts";
import { TASK, type TaskRow } from "../../src/workflows/tasks/task.ts";
import { TASK_RULES } from "../../src/workflows/tasks/verify_tasks.ts";
import { openLog } from "../../src/platform/telemetry/log.ts";
import { Admission } from "../../src/upstream/admission.ts";
import { freshDatabase } from "./fresh_database.ts";
import { noLog } from "./logs.ts";

/** Everything behind the endpoints of tasks, on the simulator, with a queue that the test plays itself. */
export interface TaskEngine extends AsyncDisposable {
  readonly database: Database;
  readonly deps: TaskDeps;
  readonly worker: JobHandler;
  readonly account: string;
  readonly config: Config;
  readonly logged: () => string;
  /** Notifications of the queue; the test takes them. */
  readonly notifications: { message: JobMessage; delayMs: number }[];
  /** Statements that tasks have run so far. */
  statements(): number;
  submit(
    body: Record<string, unknown> & { model: string },
    call?: Partial<GenerationCall>,
  ): Promise<TaskRow>;
  task(id: string): Promise<TaskRow>;
  /** Steps a task until it is over, however often it must; each step runs `times` times at once. */
  finish(id: string, times?: number): Promise<TaskRow>;
  verify(): Promise<{ ok: boolean; checks: unknown }>;
}

export async function openTaskEngine(): Promise<TaskEngine> {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await freshDatabase());
  const opened = parts.use(await store.open());
  const { sql } = opened;
  const counted = countStatements(sql);
  const database: Database = { ...opened, sql: counted.sql };
  const file = join(store.dataDir, "gateway.yaml");
  await Deno.copyFile(new URL("./media_config.yaml", import.meta.url), file);
  const configStore = await ConfigStore.open({
    file,
    environment: {},
    capabilities: buildCapabilities(),
    log: noLog,
  });
  let logged = "";
  const log = openLog({ level: "debug", format: "json", write: (text) => logged += text });
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
  });
  parts.use(ledger.pending);
  const files = parts.use(
    await openFiles({
      sql: counted.sql,
      dataDir: store.dataDir,
      storage: () => configStore.current.storage,
      address: () => "http://gateway.test",
      log: noLog,
    }),
  );
  const outbound = parts.use(new Outbound());
  const notifications: TaskEngine["notifications"] = [];
  const queue: Queue = {
    isInPostgres: false,
    enqueueInTransaction: () => Promise.resolve(),
    notify: (message, delayMs = 0) => void notifications.push({ message, delayMs }),
    start() {},
    depth: () => [],
    catchUp: () => Promise.resolve(),
    problem: () => Promise.resolve(null),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const admission = new Admission({ adapters: openAdapters(), onAttempt() {} });
  const configs = parts.use(await ConfigVersions.open({ sql, configStore, log: noLog }));
  const { tasks: deps, worker } = openTasks({
    database,
    cluster: { announce() {}, onAnnouncement() {} },
    configStore,
    configs,
    ledger,
    queue,
    files,
    outbound,
    imageHosts: new PublicHosts(),
    admission,
    http1: null,
    handlers: new Map(),
    onEnd() {},
    tracer: null,
    log,
  }, { timing: { answeredSeconds: 0.2 } });
  const { id: account } = await createAccount(sql, { name: "engine" });
  await addCredit(sql, { account, kind: "cash", amount: "1000.00", reference: "start" });
  const task = async (id: string) => (await findTask(sql, account, id))!;
  const never = new AbortController().signal;
  const closing = parts.move();
  return {
    database: opened,
    deps,
    worker,
    statements: counted.count,
    account,
    config: configStore.current,
    logged: () => (log.flush(), logged),
    notifications,
    task,
    async submit(body, call = {}) {
      const model = configStore.current.models.get(body.model)!;
      const { row } = await acceptGeneration(
        deps,
        {
          requestId: newId("req"),
          clientRequestId: null,
          origin: { key: null, user: null, metadata: null },
          identity: null,
          config: configStore.current,
          account: { id: account, plan: "free", priceBook: null },
          maxActive: 100_000,
          callbackUrl: null,
          ...call,
        },
        model,
        { prompt: "x", ...body },
      );
      return row;
    },
    async finish(id, times = 1) {
      for (let steps = 0; steps < 1000; steps++) {
        const nexts = await Promise.all(
          Array.from({ length: times }, () => worker.step(id, never)),
        );
        const row = await task(id);
        if (row.completed_at !== null) return row;
        const delays = nexts.flatMap((next) => next === "done" ? [] : [next.againInMs]);
        await new Promise((resume) => setTimeout(resume, Math.max(5, Math.min(...delays, 50))));
      }
      throw new Error(`${id} never ended`);
    },
    verify: () => verifyLedger(sql, TASK_RULES),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The same `sql`, with a count of what it runs; a transaction counts as one. */
function countStatements(sql: Sql): { sql: Sql; count: () => number } {
  let count = 0;
  return {
    count: () => count,
    sql: new Proxy(sql, {
      apply(run, self, args) {
        count++;
        return Reflect.apply(run, self, args);
      },
      get(run, name) {
        if (name === "begin") count++;
        return Reflect.get(run, name);
      },
    }),
  };
}

export { TASK };
