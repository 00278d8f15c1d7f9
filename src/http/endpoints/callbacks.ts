import { ApiError } from "../../lib/api_error.ts";
import { handleProviderCallback } from "../../workflows/tasks/handle_provider_callback.ts";
import type { TaskDeps } from "../../workflows/tasks/deps.ts";
import type { Endpoint, HttpContext } from "../exchange.ts";

const BODY_BYTES_MAX = 1024 * 1024;

/** POST /callbacks/{task_id}?expires=…&signature=…: called by providers when a job changes. */
export function providerCallback({ tasks }: { tasks: TaskDeps }): Endpoint {
  return async function providerCallback(c) {
    const id = c.req.param("task_id") ?? "";
    if (!await tasks.files.verifyUrl(`callback:${id}`, c.req.query(), Date.now())) {
      await c.req.raw.body?.cancel();
      throw new ApiError("task_not_found", "This URL is invalid or has expired.");
    }
    await handleProviderCallback(tasks, id, await readCallback(c));
    return new Response(null, { status: 204 });
  };
}

/** The body, if it is JSON within the size limit; else nothing. */
async function readCallback(c: HttpContext): Promise<unknown> {
  try {
    const { bytes, reservation } = await c.env.bodies.read(c.req.raw, {
      owner: "callbacks",
      bytesMax: BODY_BYTES_MAX,
      limits: c.env.config.limits,
    });
    c.env.body = reservation;
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    const isUnreadable = error instanceof SyntaxError ||
      (error instanceof ApiError && error.code === "payload_too_large");
    if (isUnreadable) return null;
    throw error;
  }
}
