import type { Config, Model } from "../../platform/config/config.ts";
import { type IdempotencyIdentity, keyReused } from "../../domain/idempotency/key.ts";
import type { RequestOrigin } from "../../domain/ledger/request_origin.ts";
import { type PricedAccount, requirePrice } from "../../domain/pricing/find_price.ts";
import { withinQuota } from "../../domain/pricing/quota_models.ts";
import { type Quote, quoteUsage } from "../../domain/pricing/quote.ts";
import type { CheckedRequest } from "../../model_types/definition.ts";
import type { Usage } from "../../model_types/usage.ts";
import { checkGeneration, type GenerationBody } from "./check_generation.ts";
import type { CreatedTask, NewTask } from "./create_task.ts";
import type { TaskDeps } from "./deps.ts";
import { findTask } from "./find_task.ts";

/** A generation that a client asks for. */
export interface GenerationCall {
  requestId: string;
  clientRequestId: string | null;
  origin: RequestOrigin;
  identity: IdempotencyIdentity | null;
  config: Config;
  account: PricedAccount;
  /** Active tasks that the account may have. */
  maxActive: number;
  callbackUrl: string | null;
}

/** Accepts a generation: checks it against its model, quotes it, and stores it as a task with its hold. */
export async function acceptGeneration(
  deps: TaskDeps,
  call: GenerationCall,
  model: Model,
  body: GenerationBody,
): Promise<CreatedTask> {
  const checked = await checkGeneration({
    files: deps.files,
    config: call.config,
    account: call.account.id,
    model,
    body,
  });
  if (!call.config.outbound.allowPrivate) {
    const linked = checked.job.inputs.flatMap((input, at) =>
      "url" in input ? [{ url: input.url, param: `input_images.${at}` }] : []
    );
    // The upstream may fetch it itself, from inside our network.
    if (linked.length > 0) await deps.imageHosts.check(linked);
  }
  return await acceptChecked(deps, call, model, checked);
}

/** The same, for a request that was checked elsewhere. */
export async function acceptChecked(
  deps: TaskDeps,
  call: GenerationCall,
  model: Model,
  { job, maxUsage }: CheckedRequest,
): Promise<CreatedTask> {
  const quote = quoteFor(call.config, call.account, model, maxUsage);
  return await deps.creation.create({ ...newTaskOf(call, model), job, quote });
}

/** What a task has from the call that makes it and from its model. */
export function newTaskOf(call: GenerationCall, model: Model): Omit<NewTask, "job" | "quote"> {
  return {
    account: call.account.id,
    requestId: call.requestId,
    clientRequestId: call.clientRequestId,
    origin: call.origin,
    identity: call.identity,
    type: model.type,
    model: model.id,
    configVersion: call.config.version,
    callbackUrl: call.callbackUrl,
    queueSeconds: call.config.limits.queueSecondsMax,
    deadlineSeconds: model.deadlineSeconds,
    maxActive: call.maxActive,
  };
}

export function quoteFor(config: Config, account: PricedAccount, model: Model, most: Usage): Quote {
  const quote = quoteUsage(model, requirePrice(config, account, model.id), most);
  return withinQuota(config, account.plan, quote);
}

/**
 * What an earlier request with this key made; null where there was none. Asked when a request would be
 * refused now: what was accepted once stays accepted, though its files or its model may be gone.
 */
export async function findReplay(
  { database: { sql } }: TaskDeps,
  account: string,
  { key, path, bodyHash, param }: IdempotencyIdentity,
): Promise<CreatedTask | null> {
  const [seen] = await sql<{ path: string; body_hash: string; task_id: string }[]>`
    select path, body_hash, task_id from idempotency
     where account_id = ${account} and key = ${key} and (expires_at is null or expires_at > now())`;
  if (seen === undefined) return null;
  if (seen.path !== path || seen.body_hash !== bodyHash) throw keyReused({ param });
  const row = await findTask(sql, account, seen.task_id);
  return row === null ? null : { row, isReplay: true };
}

/** Lets a key go whose task came to nothing: the same request again is to make another. */
export async function releaseKey(
  { database: { sql } }: TaskDeps,
  account: string,
  { key }: IdempotencyIdentity,
  taskId: string,
): Promise<void> {
  await sql`
    delete from idempotency where account_id = ${account} and key = ${key} and task_id = ${taskId}`;
}
