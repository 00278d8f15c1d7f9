import { ApiError } from "../../lib/api_error.ts";
import type { MeteredChat } from "../../model_types/chat.ts";
import type { Upstream } from "../../platform/config/config.ts";
import type { ChatChunk, ChatReply } from "../../upstream/adapter.ts";
import {
  type Attempt,
  callChat,
  callChatStream,
  type ChunkStream,
} from "../../upstream/call_chat.ts";
import { Deadline } from "../../upstream/deadline.ts";
import { toUpstreamFailure } from "../../upstream/end_attempt.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import type { UpstreamAttempt } from "../../upstream/upstream_attempt.ts";
import type { UpstreamResult } from "../../upstream/upstreams.ts";
import { meterOf } from "../chat/complete_chat.ts";
import type { PreparedChat } from "../chat/prepare_chat.ts";
import { recordCalling } from "../tasks/lease.ts";
import type { RenderedResponse } from "./background_response.ts";
import type { LoadedStep } from "./run_response.ts";

/** The last upstream that was called failed. Another call may succeed. */
export class FailedCall extends Error {
  override readonly name = "FailedCall";

  constructor(readonly failure: UpstreamFailure, readonly upstream: string) {
    super(failure.message, { cause: failure });
  }
}

/** The deadline of the model has passed. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

export interface Answered {
  readonly upstream: Upstream;
  readonly metered: MeteredChat;
  readonly rendered: RenderedResponse;
}

/** One run through the upstreams of a model. */
interface Round extends LoadedStep {
  readonly prepared: PreparedChat;
  readonly deadline: Deadline;
  readonly attempts: UpstreamAttempt[];
}

type Streamed = { readonly first: readonly ChatChunk[]; readonly rest: ChunkStream };

/** Calls the upstreams of a model until one answers. Throws `FailedCall` where its answer was not complete. */
export async function callUpstream(step: LoadedStep, prepared: PreparedChat): Promise<Answered> {
  const { model, signal } = step;
  using deadline = new Deadline({ totalMs: model.deadlineSeconds * 1000, signal });
  const round: Round = { ...step, prepared, deadline, attempts: [] };
  try {
    return await receive(round);
  } catch (error) {
    if (signal.aborted) throw error;
    if (deadline.signal.aborted) throw new OutOfTime("no whole answer in time", { cause: error });
    const failure = failureOf(error);
    const last = round.attempts.at(-1);
    if (failure === null || last === undefined) throw error;
    throw new FailedCall(failure, `${last.provider}/${last.model}`);
  }
}

/** Null for an error that another call would not change. */
function failureOf(error: unknown): UpstreamFailure | null {
  if (error instanceof UpstreamFailure) return error;
  const isExhausted = error instanceof ApiError && error.isServerError;
  return isExhausted && error.cause instanceof UpstreamFailure ? error.cause : null;
}

async function receive(round: Round): Promise<Answered> {
  const { run, task, config, model, prepared, deadline, attempts, response } = round;
  const meter = meterOf(model, prepared);
  const called = await run.upstreams.callFirstAvailable(
    {
      ...{ config, model, account: task.account_id, attempts },
      subject: { task_id: task.id },
      signal: deadline.signal,
      pin: prepared.pin,
    },
    (attempt) => call(round, attempt),
  );
  const { value, upstream } = called;
  meter.imageTokens = prepared.imageTokensAt(upstream);
  if (!("rest" in value)) {
    called.release();
    meter.addReply(value);
    const metered = await meter.total();
    return { upstream, metered, rendered: await response.render(value, metered.tokens) };
  }
  const writer = response.openStream();
  await readStream({ ...called, value }, deadline, (chunk) => {
    meter.add(chunk);
    writer.chunk(chunk);
  });
  const metered = await meter.total();
  return { upstream, metered, rendered: await response.endStream(writer, metered.tokens) };
}

/** Recorded before it is sent: after a crash it is known that an upstream was called. */
async function call(
  { deps, task, prepared, deadline, attempts }: Round,
  attempt: Attempt,
): Promise<Streamed | ChatReply> {
  const written = prepared.requestFor(attempt.upstream);
  try {
    const before = attempts.at(-2)?.outcome ?? null;
    await recordCalling(deps.changes, task, attempt.upstream, before);
    if (task.status === "queued") deps.watch.changed(task.id);
  } catch (error) {
    // It is no fault of the upstream, and no other is to be called.
    deadline.abort();
    throw error;
  }
  return prepared.request.stream === true
    ? await callChatStream(attempt, written)
    : await callChat(attempt, written);
}

async function readStream(
  { value: { first, rest }, release }: UpstreamResult<Streamed>,
  { signal }: Deadline,
  take: (chunk: ChatChunk) => void,
): Promise<void> {
  try {
    let chunks: readonly ChatChunk[] | null = first;
    while (chunks !== null) {
      chunks.forEach(take);
      chunks = await rest.next();
    }
  } catch (error) {
    rest.cancel();
    release(signal.aborted ? undefined : toUpstreamFailure(error));
    throw error;
  }
  release();
}
