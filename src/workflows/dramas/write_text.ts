import { ApiError } from "../../lib/api_error.ts";
import { chatUsage } from "../../model_types/chat.ts";
import { ChatMeter } from "../chat/meter.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { failTask, finishTask } from "../tasks/finish_task.ts";
import { recordCalled, reschedule } from "../tasks/lease.ts";
import { configForTask, modelGone } from "../tasks/upstream_assignment.ts";
import type { ClaimedTask } from "../tasks/task.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { callChat } from "../../upstream/call_chat.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { UpstreamAttempt } from "../../upstream/upstream_attempt.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { Character, Roles, Script } from "./drama.ts";
import { parseTextJob } from "./stored_drama.ts";
import { completeRoles, readAnswer } from "./texts.ts";

/** Job of a text subtask. */
export interface TextJob {
  readonly stage: "script" | "roles";
  readonly prompt: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly max_output_tokens: number;
  readonly tries: number;
  readonly characters: readonly Character[];
}

const RETRY_MS = 1_000;

/**
 * Requests a text once, and again later where the upstream fails. A response that does not match the schema ends the
 * subtask with its usage, because the upstream charges for it; the drama then creates another.
 */
export async function writeText(
  upstreams: Upstreams,
  deps: TaskDeps,
  task: ClaimedTask,
  signal: AbortSignal,
): Promise<NextStep> {
  if (task.cancel_requested_at !== null) {
    await finishTask(deps, task, { status: "cancelled" });
    return "done";
  }
  const job = parseTextJob(task.job);
  const config = await configForTask(deps, task.config_version, task.model);
  const model = config.models.get(task.model);
  if (model === undefined) return await failTask(deps, task, modelGone());
  const request = textRequest(job, task.model, model.capabilities.has("json_schema"));
  const attempts: UpstreamAttempt[] = [];
  let called;
  try {
    called = await upstreams.callFirstAvailable(
      {
        ...{ config, model, account: task.account_id, attempts },
        subject: { task_id: task.id },
        signal,
      },
      (at) => callChat(at, upstreams.write(config, model, at.upstream, request)),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await recordCalled(deps.changes, task, attempts);
    if (!error.isServerError) return await failTask(deps, task, inClientTerms(error));
    return await again(deps, task, job, error);
  }
  const { value: reply, upstream } = called;
  called.release();
  await recordCalled(deps.changes, task, attempts);
  const meter = new ChatMeter(request);
  meter.addReply(reply);
  const served = { usage: chatUsage(await meter.total()), upstream };
  const answer = readAnswer<Script | Roles>(reply.choices[0]?.message.content ?? "", job.schema);
  if (answer === null) {
    const message = "The model did not answer in the form that was asked for: try again.";
    const error = { code: "upstream_failed", message };
    await finishTask(deps, task, { status: "failed", error, ...served });
    return "done";
  }
  const content = job.stage === "roles" ? completeRoles(answer as Roles, job.characters) : answer;
  const { id: file_id, mimeType: mime_type, bytes } = await deps.files.storeJson(task.account_id, {
    taskId: task.id,
    value: content,
    name: `${task.id}-${job.stage}`,
  });
  await finishTask(deps, task, {
    status: "succeeded",
    outputs: [{ index: 0, type: job.stage, content, file: { file_id, mime_type, bytes } }],
    ...served,
  });
  return "done";
}

async function again(
  deps: TaskDeps,
  task: ClaimedTask,
  { tries }: TextJob,
  reason: ApiError,
): Promise<NextStep> {
  if (task.poll_count + 1 >= tries) return await failTask(deps, task, reason);
  const delayMs = RETRY_MS * 2 ** task.poll_count;
  return { againInMs: await reschedule(deps.changes, task, { delayMs, hasPolled: true }) };
}

/** The chat request of a text stage. */
export function textRequest(
  job: Pick<TextJob, "stage" | "prompt" | "schema" | "max_output_tokens">,
  model: string,
  hasSchemaMode: boolean,
): ChatRequest {
  const { stage: name, schema } = job;
  const asked = `Answer with one JSON object that meets this JSON Schema, and nothing else:\n${
    JSON.stringify(schema)
  }`;
  return {
    model,
    messages: [
      ...(hasSchemaMode ? [] : [{ role: "system", content: asked }]),
      { role: "user", content: job.prompt },
    ],
    max_completion_tokens: job.max_output_tokens,
    ...(hasSchemaMode
      ? { response_format: { type: "json_schema", json_schema: { name, schema, strict: true } } }
      : {}),
  };
}

/** The upstream rejected a request that the gateway composed: its fields are not the client's and are not named. */
function inClientTerms(error: ApiError): ApiError {
  switch (error.code) {
    case "prompt_too_long":
      return new ApiError(
        "prompt_too_long",
        "The script is longer than its model can take: shorten it.",
        { param: "script" },
      );
    case "invalid_value":
      return jobError("rejected");
    case "capability_not_supported":
      return jobError("unable");
    default:
      return error;
  }
}
