import type { TaskHandler } from "../tasks/task_worker.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { advanceDrama } from "./advance_drama.ts";
import { writeText } from "./write_text.ts";

/**
 * Handlers of dramas, and of chats: those are text subtasks of a drama, or else make a response in the background.
 * Images, videos and spoken lines are ordinary media jobs.
 */
export function taskHandlers(
  upstreams: Upstreams,
  makeResponse: TaskHandler,
): ReadonlyMap<string, TaskHandler> {
  return new Map<string, TaskHandler>([
    ["drama", advanceDrama],
    [
      "chat",
      (deps, task, signal) =>
        task.parent_id === null
          ? makeResponse(deps, task, signal)
          : writeText(upstreams, deps, task, signal),
    ],
  ]);
}
