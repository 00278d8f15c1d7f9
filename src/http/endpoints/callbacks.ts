import type { Hono } from "hono";
import { ApiError } from "../../lib/api_error.ts";
import { handleProviderCallback } from "../../workflows/tasks/handle_provider_callback.ts";
import type { TaskDeps } from "../../workflows/tasks/deps.ts";
import type { Env, HttpContext } from "../exchange.ts";
import { methodNotAllowed } from "../method_not_allowed.ts";

const PATH = "/callbacks/:task_id";
const BODY_BYTES_MAX = 1024 * 1024;

/** POST /callbacks/{task_id}?expires=…&signature=…: called by providers when a job changes. */
export function mountCallbacks(app: Hono<Env>, fallback: Hono<Env>, tasks: TaskDeps): void {
  app.post(PATH, async function callback(c) {
    c.env.route = "/callbacks/{task_id}";
    const id = c.req.param("task_id");
    if (!await tasks.files.verifyUrl(`callback:${id}`, c.req.query(), Date.now())) {
      await c.req.raw.body?.cancel();
      throw new ApiError("task_not_found", "This URL is invalid or has expired.");
    }
    await handleProviderCallback(tasks, id, await readBody(c));
    return new Response(null, { status: 204 });
  });
  fallback.all(PATH, methodNotAllowed(["POST"]));
}

/** The body, if it is JSON within the size limit; else nothing. */
async function readBody(c: HttpContext): Promise<unknown> {
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
