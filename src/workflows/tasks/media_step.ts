import type { UpstreamAssignment } from "../../upstream/media_calls.ts";
import type { TaskDeps } from "./deps.ts";
import type { MediaTask } from "./task.ts";

/** One step of a media task, as the functions that run it pass it on. */
export interface MediaStep {
  readonly deps: TaskDeps;
  readonly task: MediaTask;
  /** Aborts when the lease is lost or the process stops. */
  readonly signal: AbortSignal;
}

/** A step whose upstream is known. */
export interface AssignedStep extends MediaStep {
  readonly assignment: UpstreamAssignment;
}
