import type { TaskHandler } from "../tasks/task_worker.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { advanceDrama } from "./advance_drama.ts";
import { writeText } from "./write_text.ts";

/** Handlers of dramas and their text subtasks. Images, videos and spoken lines are ordinary media jobs. */
export function dramaTaskHandlers(upstreams: Upstreams): ReadonlyMap<string, TaskHandler> {
  return new Map<string, TaskHandler>([
    ["drama", advanceDrama],
    ["chat", (deps, task, signal) => writeText(upstreams, deps, task, signal)],
  ]);
}
