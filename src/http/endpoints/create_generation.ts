import { ApiError } from "../../lib/api_error.ts";
import { isOver, type TaskRow } from "../../workflows/tasks/task.ts";
import { upstreamTimeOf } from "../../workflows/tasks/upstream_time.ts";
import type { Model, Route } from "../../platform/config/config.ts";
import { nullIfUnavailable } from "../../platform/database/storage_error.ts";
import { modelForRoute } from "../../platform/config/usable_model.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import { checkUrl } from "../../platform/outbound/check_url.ts";
import {
  acceptGeneration,
  findReplay,
  type GenerationCall,
} from "../../workflows/tasks/accept_generation.ts";
import { awaitTask } from "../../workflows/tasks/await_task.ts";
import type { CreatedTask } from "../../workflows/tasks/create_task.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { accountOf, type BodyEndpoint, type HttpContext, logModel, sendJson } from "../exchange.ts";
import { readPreferences } from "../prefer.ts";
import { noticeHeaders } from "./retrieve_model.ts";
import { type TaskEndpointDeps, toTaskJson } from "./tasks.ts";

/** POST of a generation endpoint whose tasks are one job at one upstream. */
export function createGeneration(
  deps: TaskEndpointDeps,
  route: Route,
): BodyEndpoint<GenerationBody> {
  return async function createGeneration(c, body) {
    const identity = identifyRequest(c.req.header("idempotency-key") ?? null, route.path, body);
    return await respondWithTask(deps, c, identity, async () => {
      const model = requestedModel(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      return { model, created: await acceptGeneration(deps.tasks, call, model, body) };
    });
  };
}

/**
 * Accepts a request and responds 202 with its task, or with the task of the same earlier request; waits for
 * the task first where the client prefers that.
 */
export async function respondWithTask(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: GenerationCall["identity"],
  accept: () => Promise<Accepted>,
): Promise<Response> {
  const accepted = await acceptOrReplay(deps, c, identity, accept);
  const { created } = accepted;
  const { waitSeconds } = readPreferences(c);
  // A preference: when too many requests wait already, the task is returned at once.
  const release = waitSeconds === 0 ? null : deps.waits.tryTake(c);
  const row = release === null
    ? created.row
    : await awaitHere(deps, c, created.row, waitSeconds * 1000).finally(release);
  return sendJson(JSON.stringify(toTaskJson(deps, c, row)), 202, {
    ...replyHeaders(accepted, row),
    ...(release === null ? {} : { "preference-applied": `wait=${waitSeconds}` }),
  });
}

/** Waits until the task is over, the client leaves, its account is stopped or this process drains. */
export async function awaitHere(
  deps: TaskEndpointDeps,
  c: HttpContext,
  row: TaskRow,
  ms: number,
): Promise<TaskRow> {
  using stop = deps.stopping(c);
  const awaited = await awaitTask(deps.tasks, row, ms, stop.signal);
  await noteUpstreamTime(deps, c, row);
  return awaited;
}

/** For `Server-Timing`, after a wait: how long upstreams had the task while this request was there. */
export async function noteUpstreamTime(
  { tasks }: TaskEndpointDeps,
  { env, req }: HttpContext,
  before: TaskRow,
): Promise<void> {
  if (isOver(before.status) || req.raw.signal.aborted) return;
  const ms = performance.now() - env.startedAt;
  const known = await upstreamTimeOf(tasks.database.sql, before.id, ms).catch(nullIfUnavailable);
  env.upstreamMs = known ?? 0;
}

/** The headers of every response with a task. */
export function replyHeaders(
  { model, created: { isReplay } }: Accepted,
  { id }: CreatedTask["row"],
): Record<string, string> {
  return {
    location: `/v1/tasks/${id}`,
    ...(isReplay ? { "idempotent-replayed": "true" } : {}),
    ...(model === null ? {} : noticeHeaders(model)),
  };
}

export interface Accepted {
  /** Null: a replay, whose model may no longer exist. */
  model: Model | null;
  created: CreatedTask;
}

/** A request that was accepted once stays accepted, even if it would be rejected now. */
export async function acceptOrReplay(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: GenerationCall["identity"],
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  try {
    const accepted = await accept();
    noteTask(c, accepted.created);
    return accepted;
  } catch (error) {
    const isRejected = error instanceof ApiError &&
      (!error.isServerError || error.code === "model_unavailable");
    const replay = isRejected && identity !== null && error.code !== "idempotency_key_reused"
      ? await findReplay(deps.tasks, accountOf(c).id, identity)
      : null;
    if (replay === null) throw error;
    noteTask(c, replay);
    return { model: null, created: replay };
  }
}

/** In the request log: what a new task costs is known when it has ended. */
function noteTask({ env: { logged } }: HttpContext, { row, isReplay }: CreatedTask): void {
  if (logged === null) return;
  logged.task = row.id;
  if (!isReplay) logged.charge = null;
}

export function callOf(
  c: HttpContext,
  identity: GenerationCall["identity"],
  callback: unknown,
): GenerationCall {
  const { config } = c.env;
  const callbackUrl = typeof callback === "string"
    ? checkUrl(callback, config.outbound, "callback_url").href
    : null;
  return {
    requestId: c.env.requestId,
    clientRequestId: c.env.clientRequestId,
    origin: c.env.logged!,
    identity,
    config,
    account: accountOf(c),
    maxActive: c.env.accountPlan!.rates.runningTasks,
    callbackUrl,
  };
}

/** The model, if this account may use it and the endpoint supports its type. */
export function requestedModel(c: HttpContext, id: string, route: Route): Model {
  const model = modelForRoute(c.env.config, accountOf(c), id, route);
  logModel(c, model);
  return model;
}

export function notReleased({ path }: Route): ApiError {
  return new ApiError(
    "endpoint_not_released",
    `${path} is planned and not released yet. /docs describes the released endpoints.`,
  );
}
