import { ApiError } from "../lib/api_error.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Files } from "../domain/files/files.ts";
import { currencyOf } from "../domain/ledger/insufficient.ts";
import type { Ledger } from "../domain/ledger/ledger.ts";
import type { PublicHosts } from "../platform/outbound/public_hosts.ts";
import type { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { JobHandler, Queue } from "../platform/queue/queue.ts";
import type { Database } from "../platform/database/database.ts";
import type { ConfigVersions } from "../workflows/tasks/config_versions.ts";
import { TaskCreation } from "../workflows/tasks/create_task.ts";
import type { FetchedInput, TaskDeps } from "../workflows/tasks/deps.ts";
import { DOWNLOAD_LIMITS, type DownloadLimits } from "../workflows/tasks/downloads.ts";
import { LongStepSlots } from "../workflows/tasks/long_step_slots.ts";
import { tasksById, taskVersions } from "../workflows/tasks/find_task.ts";
import { SUBMISSION_TIMING, type SubmissionTiming } from "../workflows/tasks/submit_task.ts";
import { openTaskChanges } from "../workflows/tasks/task_changes.ts";
import { openTaskWrites } from "../workflows/tasks/task_writes.ts";
import { type TaskHandler, taskWorker } from "../workflows/tasks/task_worker.ts";
import { TaskWatch } from "../workflows/tasks/task_watch.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import type { Admission } from "../upstream/admission.ts";
import { openMediaCalls } from "../upstream/call_media.ts";
import type { Http1Client } from "../upstream/http1/client.ts";

interface Deps {
  database: Database;
  cluster: Pick<Cluster, "announce" | "onAnnouncement">;
  configStore: ConfigStore;
  configs: ConfigVersions;
  ledger: Ledger;
  queue: Queue;
  files: Files;
  outbound: Outbound;
  imageHosts: PublicHosts;
  admission: Admission;
  http1: Http1Client | null;
  /** Handlers of task types that are made of several upstream jobs. */
  handlers: ReadonlyMap<string, TaskHandler>;
  onEnd: NonNullable<TaskDeps["onEnd"]>;
  tracer: Tracer | null;
  log: Log;
}

interface Options {
  download?: Partial<DownloadLimits> | undefined;
  timing?: Partial<SubmissionTiming> | undefined;
}

const INPUT_MS_MAX = 30_000;

/** Accepts tasks and runs their steps. Holds nothing that must be closed. */
export function openTasks(
  deps: Deps,
  { download, timing }: Options,
): { tasks: TaskDeps; worker: JobHandler } {
  const { database, configStore, configs, ledger, queue, files, outbound, imageHosts, onEnd, log } =
    deps;
  const limits = { ...DOWNLOAD_LIMITS, ...download };
  const writes = openTaskWrites(database, queue);
  const tasks: TaskDeps = {
    database,
    queue,
    ledger,
    files,
    imageHosts,
    media: openMediaCalls({
      admission: deps.admission,
      http1: deps.http1,
      fetchSafely: (request, policy) => outbound.fetch(request, policy),
      silenceMs: limits.silenceMs,
    }),
    downloads: { limits, slots: new LongStepSlots(limits.slots) },
    creation: new TaskCreation({
      database,
      queue,
      writes,
      money: () => currencyOf(configStore.current),
      storeConfig: (version) => configs.stored(version),
    }),
    changes: openTaskChanges(database.sql),
    writes,
    watch: openWatch(deps),
    timing: { ...SUBMISSION_TIMING, ...timing },
    configOf: (version) => configs.of(version),
    currentConfig: () => configStore.current,
    fetchInput: (url, signal) => fetchInput(outbound, configStore, url, signal),
    onEnd,
    tracer: deps.tracer,
    log,
  };
  return { tasks, worker: taskWorker(tasks, deps.handlers) };
}

function openWatch({ database: { sql }, cluster, log }: Deps): TaskWatch {
  const watch = new TaskWatch({
    versions: (ids) => taskVersions(sql, ids),
    rows: (ids) =>
      tasksById(
        sql,
        ids,
        (task_id, error) => log.error("stored task unreadable", { task_id, error }),
      ),
    announce: (id) => cluster.announce(id),
  });
  cluster.onAnnouncement((id) => watch.noticeChange(id));
  return watch;
}

/** An input image by the URL that a client sent. An error here ends the task: no upstream could use the input. */
async function fetchInput(
  outbound: Outbound,
  configStore: ConfigStore,
  url: string,
  signal: AbortSignal,
): Promise<FetchedInput> {
  const { outbound: policy, storage } = configStore.current;
  const bytesMax = storage.uploads.imageBytesMax;
  using answer = await outbound.fetch({ url, timeoutMs: INPUT_MS_MAX, bytesMax, signal }, policy);
  const mimeType = (answer.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (answer.status !== 200 || answer.body === null || !mimeType.startsWith("image/")) {
    throw new ApiError(
      "invalid_value",
      "An input image cannot be fetched, or is not an image: upload it and send its file id.",
      { param: "input_images" },
    );
  }
  return { mimeType, bytes: await new Response(answer.body).bytes() };
}
