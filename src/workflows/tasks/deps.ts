import type { Config } from "../../platform/config/config.ts";
import type { Files } from "../../domain/files/files.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import type { PublicHosts } from "../../platform/outbound/public_hosts.ts";
import type { Queue } from "../../platform/queue/queue.ts";
import type { Database } from "../../platform/database/database.ts";
import type { MediaCalls } from "../../upstream/media_calls.ts";
import type { TaskCreation } from "./create_task.ts";
import type { DownloadLimits } from "./downloads.ts";
import type { LongStepSlots } from "./long_step_slots.ts";
import type { SubmissionTiming } from "./submit_task.ts";
import type { TaskChanges } from "./task_changes.ts";
import type { TaskWrites } from "./task_writes.ts";
import type { EndStatus } from "./task.ts";
import type { TaskWatch } from "./task_watch.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { Span } from "../../platform/tracing/span.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";

/** Dependencies of task workflows. */
export interface TaskDeps {
  database: Database;
  queue: Queue;
  ledger: Ledger;
  files: Files;
  /** Whether hosts of linked images are public. */
  imageHosts: Pick<PublicHosts, "check">;
  media: MediaCalls;
  downloads: { readonly limits: DownloadLimits; readonly slots: LongStepSlots };
  /** Of one step: the rest of it takes none of the worker's slots, and has one of its own. */
  leaveSlot?(): void;
  /** Continues the traces of requests; left out: no traces. */
  tracer?: Tracer | null;
  /** Of one step, if its task is traced. */
  span?: Span | null;
  timing: SubmissionTiming;
  creation: TaskCreation;
  changes: TaskChanges;
  writes: TaskWrites;
  watch: TaskWatch;
  /** The configuration that a task began under; the one in force where it is not stored. */
  configOf(version: string): Config | Promise<Config>;
  /** The configuration in force. */
  currentConfig(): Config;
  /** Fetches an input that a client named, for an upstream that wants bytes. */
  fetchInput(url: string, signal: AbortSignal): Promise<FetchedInput>;
  onEnd?(status: EndStatus): void;
  log: Pick<Log, "info" | "warn" | "error">;
}

export interface FetchedInput {
  mimeType: string;
  bytes: Uint8Array<ArrayBuffer>;
}
