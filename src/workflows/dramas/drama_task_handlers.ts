import type { TaskHandler } from "../tasks/task_worker.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { advanceDrama } from "./advance_drama.ts";
import { writeText } from "./write_text.ts";

/** How dramas and their texts are worked on; pictures, clips and lines are media jobs like any other. */
export function dramaTaskHandlers(upstreams: Upstreams): ReadonlyMap<string, TaskHandler> {
  return new Map<string, TaskHandler>([
    ["drama", advanceDrama],
    ["chat", (deps, task, signal) => writeText(upstreams, deps, task, signal)],
  ]);
}
