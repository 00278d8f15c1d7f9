import type { MediaKind, TaskJob } from "../../model_types/definition.ts";
import type { MediaJobType, ModelType } from "../../model_types/model_types.ts";
import type { ReceiptRow } from "../../domain/ledger/receipt.ts";
import type { Metadata } from "../../domain/ledger/request_origin.ts";
import type { HoldState } from "../../domain/ledger/item.ts";
import type { PriceSnapshot } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageKind } from "../../model_types/usage.ts";

/** The queue's message kind for tasks. */
export const TASK = "task";

export const STATUSES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "expired",
] as const;
export type Status = (typeof STATUSES)[number];
/** Final: nothing leaves these. */
export type EndStatus = Exclude<Status, "queued" | "running">;

export function isOver(status: Status): status is EndStatus {
  return status !== "queued" && status !== "running";
}

/** A result in the gateway's own storage. */
export interface StoredOutput {
  /** Its place among the task's results. */
  readonly index: number;
  readonly type: MediaKind;
  readonly file_id: string;
  readonly mime_type: string;
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  /** Seconds. */
  readonly duration?: number;
  /** In a stage of a drama: the shot it belongs to. Shots count from 1. */
  readonly shot?: number;
}

/** A result that is text: of the script and roles stages of a drama. */
export interface TextOutput {
  readonly index: number;
  readonly type: string;
  readonly content: unknown;
  /** The same as a file. Texts of tasks that ended before they were files have none. */
  readonly file?: TextFile;
  readonly shot?: number;
}

export interface TextFile {
  readonly file_id: string;
  readonly mime_type: string;
  readonly bytes: number;
}

export type TaskOutput = StoredOutput | TextOutput;

/** One stage of a pipeline and its results so far, as stored; URLs are signed when it is rendered. */
export interface TaskStage {
  readonly stage: string;
  readonly status: "waiting" | "running" | "succeeded" | "failed" | "cancelled";
  readonly progress: number;
  readonly outputs: readonly TaskOutput[];
}

/** A task and its hold, as far as clients may see them. */
export interface TaskRow {
  readonly id: string;
  readonly account_id: string;
  readonly request_id: string;
  readonly client_request_id: string | null;
  readonly type: ModelType;
  readonly model: string;
  readonly status: Status;
  readonly progress: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly deadline_at: Date;
  readonly outputs: readonly TaskOutput[];
  readonly units: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly stage: string | null;
  /** Null for a task that is one job at one upstream. */
  readonly stages: readonly TaskStage[] | null;
  /** Its next step is due and has not begun. */
  readonly is_late?: boolean;
  readonly hold_state: HoldState;
  readonly allocations: string[];
  readonly held: string[];
  readonly taken: string[] | null;
  readonly shortfall: string | null;
  readonly usage: Usage | null;
  readonly price: PriceSnapshot;
  readonly held_at: Date;
  readonly resolved_at: Date | null;
  readonly key_id: string | null;
  readonly end_user: string | null;
  readonly metadata: Metadata | null;
  readonly endpoint: string | null;
}

/** Its receipt's row. */
export function receiptOf(row: TaskRow): ReceiptRow {
  const {
    request_id,
    client_request_id,
    model,
    allocations,
    held,
    taken,
    shortfall,
    usage,
    price,
  } = row;
  return {
    id: request_id,
    request_id,
    client_request_id,
    model,
    state: row.hold_state,
    allocations,
    held,
    taken,
    shortfall,
    usage,
    price,
    created_at: row.held_at,
    resolved_at: row.resolved_at,
    key_id: row.key_id,
    end_user: row.end_user,
    metadata: row.metadata,
    endpoint: row.endpoint,
  };
}

/** A claimed task as its row has it: the JSON columns are not parsed. */
export interface ClaimedRow {
  readonly id: string;
  readonly account_id: string;
  readonly request_id: string;
  readonly type: ModelType;
  readonly model: string;
  readonly status: "queued" | "running";
  readonly progress: number;
  readonly job: unknown;
  readonly callback_url: string | null;
  readonly outputs: unknown;
  readonly stage: string | null;
  readonly phase: "submit" | "submitting" | "accepted" | "copying" | "pipeline";
  /** Version of the configuration it was accepted under. */
  readonly config_version: string;
  /** Of a subtask: its parent. */
  readonly parent_id: string | null;
  /** Of a parent: how many of its subtasks have ended. */
  readonly wakeups: number;
  /** The trace of the request that created it. */
  readonly traceparent: string | null;
  readonly provider: string | null;
  readonly upstream_model: string | null;
  readonly upstream_id: string | null;
  readonly tried: readonly string[];
  readonly result: unknown;
  /** Times of the database, as ISO text. */
  readonly cancel_requested_at: string | null;
  readonly cancel_sent_at: string | null;
  readonly poll_count: number;
  readonly failures: number;
  readonly last_failure: string | null;
  /** Tries to download its results that failed. */
  readonly download_tries: number;
  readonly fence: string;
  /** Past its deadline, on the database's clock. */
  readonly is_overdue: boolean;
  /** Seconds since it was accepted. */
  readonly age_seconds: number;
  /** Seconds since it was sent to its upstream. */
  readonly sent_seconds: number | null;
  /** Null for a subtask: its parent is charged. */
  readonly price: PriceSnapshot | null;
  readonly kind: UsageKind | null;
}

/** A task that this process may work on, until its lease ends. Each type of task parses its own `job`. */
export interface ClaimedTask extends ClaimedRow {
  readonly outputs: readonly StoredOutput[];
}

/** A claimed task that is one job at one upstream. */
export interface MediaTask extends ClaimedTask {
  readonly type: MediaJobType;
  readonly job: TaskJob;
}
