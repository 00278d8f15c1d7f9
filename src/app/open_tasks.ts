import { ApiError } from "../lib/api_error.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Files } from "../domain/files/files.ts";
import type { Ledger } from "../domain/ledger/ledger.ts";
import type { PublicHosts } from "../platform/outbound/public_hosts.ts";
import type { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { JobHandler, Queue } from "../platform/queue/queue.ts";
import type { Database } from "../platform/database/database.ts";
import type { ConfigVersions } from "../workflows/tasks/config_versions.ts";
import { TaskCreation } from "../workflows/tasks/create_task.ts";
import type { FetchedInput, TaskDeps } from "../workflows/tasks/deps.ts";
import {
  DOWNLOAD_LIMITS,
  type DownloadLimits,
  DownloadSlots,
} from "../workflows/tasks/downloads.ts";
import { tasksById, taskVersions } from "../workflows/tasks/find_task.ts";
import { SUBMISSION_TIMING, type SubmissionTiming } from "../workflows/tasks/submit_task.ts";
import { type TaskHandler, taskWorker } from "../workflows/tasks/task_worker.ts";
import { TaskWatch } from "../workflows/tasks/task_watch.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Admission } from "../upstream/admission.ts";
import { openMediaCalls } from "../upstream/call_media.ts";
import type { Http1Client } from "../upstream/http1/client.ts";

interface Given {
  database: Database;
  configStore: ConfigStore;
  configs: ConfigVersions;
  ledger: Ledger;
  queue: Queue;
  files: Files;
  outbound: Outbound;
  imageHosts: PublicHosts;
  admission: Admission;
  download?: Partial<DownloadLimits> | undefined;
  http1: Http1Client | null;
  timing: Partial<SubmissionTiming> | undefined;
  onEnd: NonNullable<TaskDeps["onEnd"]>;
  log: Log;
}

const INPUT_MS_MAX = 30_000;

/** Tasks: what accepts them, and the worker that does their steps. */
export function openTasks(
  given: Given,
  handlers: ReadonlyMap<string, TaskHandler> = new Map(),
): { tasks: TaskDeps; worker: JobHandler } {
  const { database, configStore, configs, ledger, queue, files, outbound, imageHosts, onEnd, log } =
    given;
  const limits = { ...DOWNLOAD_LIMITS, ...given.download };
  const tasks: TaskDeps = {
    database,
    queue,
    ledger,
    files,
    imageHosts,
    media: openMediaCalls({
      admission: given.admission,
      http1: given.http1,
      fetchSafely: (request, policy) => outbound.fetch(request, policy),
      silenceMs: limits.silenceMs,
    }),
    downloads: { limits, slots: new DownloadSlots(limits.slots) },
    creation: new TaskCreation(
      database,
      queue,
      () => configStore.current.service,
      (version) => configs.stored(version),
    ),
    watch: new TaskWatch({
      versions: (ids) => taskVersions(database.sql, ids),
      rows: (ids) =>
        tasksById(
          database.sql,
          ids,
          (task_id, error) => log.error("stored task unreadable", { task_id, error }),
        ),
    }),
    timing: { ...SUBMISSION_TIMING, ...given.timing },
    plan: (declaration) => configs.of(declaration),
    currentPlan: () => configStore.current,
    fetchInput: (url, signal) => fetchInput(outbound, configStore, url, signal),
    onEnd,
    log,
  };
  return { tasks, worker: taskWorker(tasks, handlers) };
}

/** A picture that a client named. What is refused here ends the task: nobody could use it. */
async function fetchInput(
  outbound: Outbound,
  configStore: ConfigStore,
  url: string,
  signal: AbortSignal,
): Promise<FetchedInput> {
  const { outbound: policy, storage } = configStore.current;
  const bytesMax = storage.uploads.image;
  using answer = await outbound.fetch({ url, timeoutMs: INPUT_MS_MAX, bytesMax, signal }, policy);
  const mimeType = (answer.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (answer.status !== 200 || answer.body === null || !mimeType.startsWith("image/")) {
    throw new ApiError(
      "invalid_value",
      "An input picture cannot be fetched, or is none: upload it and send its file id.",
      { param: "input_images" },
    );
  }
  return { mimeType, bytes: await new Response(answer.body).bytes() };
}
