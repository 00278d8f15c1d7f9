import type { Hono } from "hono";
import { Refusal } from "../../base/refusal.ts";
import { hearCallback } from "../../tasks/hear_callback.ts";
import type { TaskDeps } from "../../tasks/deps.ts";
import type { Env } from "../exchange.ts";
import { methodNotAllowed } from "../method_not_allowed.ts";

const PATH = "/callbacks/:task_id";
const BODY_BYTES_MAX = 1024 * 1024;

/** POST /callbacks/{task_id}?expires=…&signature=…: where providers say that a job has moved on. */
export function mountCallbacks(app: Hono<Env>, refusals: Hono<Env>, tasks: TaskDeps): void {
  app.post(PATH, async function callback(c) {
    c.env.route = "/callbacks/{task_id}";
    const id = c.req.param("task_id");
    if (!await tasks.files.verifyUrl(`callback:${id}`, c.req.query(), Date.now())) {
      await c.req.raw.body?.cancel();
      throw new Refusal("task_not_found", "This address is not valid or no longer works.");
    }
    await hearCallback(tasks, id, await readBody(c.req.raw));
    return new Response(null, { status: 204 });
  });
  refusals.all(PATH, methodNotAllowed(["POST"]));
}

/** What it says, as far as it is JSON of a sensible size; else nothing. */
async function readBody(request: Request): Promise<unknown> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(await new Blob(chunks).text());
  } catch {
    return null;
  }
}
