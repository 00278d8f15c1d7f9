import { Buffer } from "node:buffer";
import { type IdempotencyIdentity, identifyRequest } from "../../domain/idempotency/key.ts";
import type { StoredFile } from "../../domain/files/files.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Route } from "../../platform/config/config.ts";
import { acceptGeneration, releaseKey } from "../../workflows/tasks/accept_generation.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { isOver, type TaskRow } from "../../workflows/tasks/task.ts";
import { taskError } from "../../workflows/tasks/task_error.ts";
import { ignoredHeader } from "../dialects/translated.ts";
import { type BodyEndpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPreferences } from "../prefer.ts";
import {
  acceptOrReplay,
  awaitHere,
  callOf,
  replyHeaders,
  requestedModel,
} from "./create_generation.ts";
import { type TaskEndpointDeps, toTaskJson } from "./tasks.ts";

/** As long as OpenAI's clients wait. */
const WAIT_MS = 600_000;
/** Fields of OpenAI's API that nothing here depends on. */
const LEFT_OUT = ["style", "background", "moderation", "output_format", "output_compression"];

/**
 * POST of an image endpoint: a task makes the images. With `response_format`, or `Prefer: wait`, the response waits for
 * it and has the images as OpenAI's has them, beside the fields of the task; else it is the task.
 */
export function createImages(deps: TaskEndpointDeps, route: Route): BodyEndpoint<GenerationBody> {
  return async function createImages(c, body) {
    const identity = identifyRequest(c.req.header("idempotency-key") ?? null, route.path, body);
    const { response_format: format } = body;
    const { waitSeconds } = readPreferences(c);
    const waitMs = format === undefined ? waitSeconds * 1000 : WAIT_MS;
    // Before anything is charged: without the wait the client could not read what it pays for.
    const release = waitMs === 0
      ? null
      : format === undefined
      ? deps.waits.tryTake(c)
      : deps.waits.take(c);
    try {
      const accepted = await acceptOrReplay(deps, c, identity, async () => {
        const model = requestedModel(c, body.model, route);
        const call = callOf(c, identity, body.callback_url);
        return { model, created: await acceptGeneration(deps.tasks, call, model, body) };
      });
      const { row: created } = accepted.created;
      const row = release === null ? created : await awaitHere(deps, c, created, waitMs);
      if (format !== undefined) await requireImages(deps, identity, row);
      const headers = {
        ...replyHeaders(accepted, row),
        ...ignoredHeader(LEFT_OUT.filter((name) => name in body)),
      };
      if (format === undefined && release !== null) {
        headers["preference-applied"] = `wait=${waitSeconds}`;
      }
      return release === null
        ? sendJson(JSON.stringify(toTaskJson(deps, c, row)), 202, headers)
        : await respondWithImages(deps, c, row, { isInline: format === "b64_json", headers });
    } finally {
      release?.();
    }
  };
}

/** Throws where the task came to nothing: the client asked for images, not for a task. */
async function requireImages(
  { tasks }: TaskEndpointDeps,
  identity: IdempotencyIdentity | null,
  row: TaskRow,
): Promise<void> {
  if (!isOver(row.status) || row.status === "succeeded") return;
  // After a failure the client may send the same request again, as after any 5xx.
  if (identity !== null) await releaseKey(tasks, row.account_id, identity, row.id);
  throw taskError(row);
}

interface ImagesReply {
  /** The images are in the response, in base64. */
  readonly isInline: boolean;
  readonly headers: Record<string, string>;
}

/** A task that is not over is answered with 202 and without images: an error would make clients order it again. */
async function respondWithImages(
  deps: TaskEndpointDeps,
  c: HttpContext,
  row: TaskRow,
  { isInline, headers }: ImagesReply,
): Promise<Response> {
  const task = toTaskJson(deps, c, row);
  if (row.status !== "succeeded") {
    return sendJson(JSON.stringify({ ...task, data: [] }), 202, headers);
  }
  if (!isInline) {
    const data = task.output.flatMap((output) => "url" in output ? [{ url: output.url }] : []);
    return sendJson(JSON.stringify({ ...task, data }), 200, headers);
  }
  const ids = task.output.flatMap((output) => "file_id" in output ? [output.file_id] : []);
  const files = await Promise.all(ids.map((id) => deps.tasks.files.find(row.account_id, id)));
  if (files.includes(null)) {
    throw new ApiError("file_not_found", "The images of this request have expired.", {
      param: "Idempotency-Key",
    });
  }
  const text = inlineImages(deps, JSON.stringify(task), files as StoredFile[]);
  return new Response(ReadableStream.from(text).pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

/** The task with its images, of which one at a time is in memory. */
async function* inlineImages(
  { tasks }: TaskEndpointDeps,
  task: string,
  files: readonly StoredFile[],
): AsyncGenerator<string> {
  yield `${task.slice(0, -1)},"data":[`;
  for (const [at, file] of files.entries()) {
    const bytes = await new Response(await tasks.files.open(file)).bytes();
    yield `${at === 0 ? "" : ","}{"b64_json":"${Buffer.from(bytes).toString("base64")}"}`;
  }
  yield "]}";
}
