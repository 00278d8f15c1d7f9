import { ApiError } from "../lib/api_error.ts";
import { hashText } from "../lib/hash_text.ts";
import { inputTooLong } from "../model_types/embedding.ts";
import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import {
  type ChatRequest,
  EXTRA_PARAMETERS,
  type ImageInput,
  type UpstreamTarget,
} from "./adapter.ts";
import type { Admission, AttemptSubject } from "./admission.ts";
import type { BreakerHealth } from "../lib/breaker.ts";
import type { Attempt, WrittenChat } from "./call_chat.ts";
import { type AttemptList, UpstreamAttempt } from "./upstream_attempt.ts";
import { type CallIds, restoreCallIds } from "./call_ids.ts";
import { endAttempt } from "./end_attempt.ts";
import type { UpstreamFailure } from "./failure.ts";
import { decideFallback } from "./fallback.ts";
import { orderUpstreams } from "./order_upstreams.ts";
import type { Http1Client } from "./http1/client.ts";
import { RETRY_SECONDS } from "./job_error.ts";
import { modelUnavailable } from "./model_unavailable.ts";
import { restoreThinking, type ThinkingSeals } from "./thinking_seals.ts";

/** The response of an upstream; `release` ends its permit. */
export interface UpstreamResult<T> {
  value: T;
  /** The upstream that responded. */
  upstream: Upstream;
  /** Call once when the response is over, with the failure if it broke after it had started. */
  release(failure?: UpstreamFailure): void;
}

/** The model to call and the account that calls it. */
export interface UpstreamRequestOptions {
  config: Config;
  model: Model;
  /** Failures that a request may have caused count for its account only. */
  account: string;
  /** For whom, as the log names it. */
  subject: AttemptSubject;
  /** Aborts when the response is no longer needed. */
  signal: AbortSignal;
  /** Gets a record of every attempt. */
  attempts?: AttemptList | undefined;
  /** Requests of the account with the same number reach the same upstream, as long as it can be called. */
  pin?: number | null | undefined;
}

/** Calls the upstreams of a model, with fallback. */
export class Upstreams {
  constructor(
    readonly admission: Admission,
    private readonly http1: Http1Client | null,
    private readonly callIds: CallIds | null = null,
    private readonly seals: ThinkingSeals | null = null,
  ) {}

  /** Tries the upstreams of a model in order until `call` succeeds with one. */
  async callFirstAvailable<T>(
    { config, model, account, subject, signal, attempts, pin = null }: UpstreamRequestOptions,
    call: (attempt: Attempt) => Promise<T>,
  ): Promise<UpstreamResult<T>> {
    let last: UpstreamFailure | null = null;
    const order = orderUpstreams(model.upstreams, pin === null ? null : hashText(account, pin));
    for (const upstream of order) {
      const provider = config.providers.get(upstream.provider)!;
      const permit = this.admission.acquire(upstream, provider, account, subject);
      if (permit === null) continue;
      const record = new UpstreamAttempt(upstream.provider, upstream.model);
      attempts?.push(record);
      try {
        const value = await call(this.#attempt(upstream, provider, signal));
        permit.responseStarted();
        record.end("ok");
        const release = (failure?: UpstreamFailure) => {
          record.end(failure?.kind ?? "ok");
          permit.release(failure ?? null);
        };
        return { value, upstream, release };
      } catch (error) {
        const failure = endAttempt(permit, error, signal);
        record.end(signal.aborted ? "abandoned" : failure.kind);
        if (signal.aborted) throw error;
        if (decideFallback(failure, "repeatable") === "fail") throw rejection(failure, model);
        // What a request asks for and an upstream cannot do says less than a failure of another.
        if (failure.kind !== "unable") last = failure;
        else if (isOwnMistake(error)) throw error;
        else last ??= failure;
      }
    }
    if (last !== null) throw last.kind === "unable" ? last.cause : exhausted(last);
    throw modelUnavailable(model, this.admission.secondsUntilRetry(model.upstreams));
  }

  /** One call to one upstream, without fallback, breaker and limits: for an operator who tests it. */
  async callOnce<T>(
    { config, model, signal }: Pick<UpstreamRequestOptions, "config" | "model" | "signal">,
    upstream: Upstream,
    call: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    if (this.admission.isClosed) throw modelUnavailable(model, RETRY_SECONDS);
    const provider = config.providers.get(upstream.provider)!;
    return await call(this.#attempt(upstream, provider, signal));
  }

  /** The request in the format of this upstream; throws an `ApiError` for what it does not support. */
  write(config: Config, model: Model, upstream: Upstream, original: ChatRequest): WrittenChat {
    const provider = config.providers.get(upstream.provider)!;
    const target = this.admission.targetOf(model, upstream, provider);
    let own = original;
    if (this.callIds !== null) own = restoreCallIds(this.callIds, own, target.baseUrl);
    if (this.seals !== null) own = restoreThinking(this.seals, own, target.baseUrl);
    const adapter = this.admission.adapterOf(provider).chat!;
    return {
      ...{ target, original },
      request: adapter.write(own, target),
      ignored: ignoredParameters(original, adapter.extras ?? []),
    };
  }

  targetOf(config: Config, model: Model, upstream: Upstream): UpstreamTarget {
    return this.admission.targetOf(model, upstream, config.providers.get(upstream.provider)!);
  }

  /** Whether requests for embeddings may have lists of tokens: one upstream takes them. */
  takeTokens(config: Config, model: Model): boolean {
    return model.upstreams.some(({ provider }) =>
      this.admission.adapterOf(config.providers.get(provider)!).embeddings?.takesTokens === true
    );
  }

  /** The maximum tokens that this upstream counts for an image; null where unknown. */
  imageTokens(config: Config, upstream: Upstream, image: ImageInput): number | null {
    const provider = config.providers.get(upstream.provider)!;
    return this.admission.adapterOf(provider).chat?.imageTokens?.(image, upstream.model) ?? null;
  }

  getHealth(upstream: Upstream): BreakerHealth & { in_flight: number } {
    return this.admission.getHealth(upstream);
  }

  #attempt(upstream: Upstream, provider: Provider, signal: AbortSignal): Attempt {
    return {
      upstream,
      adapter: this.admission.adapterOf(provider),
      http1: this.http1,
      callIds: this.callIds,
      seals: this.seals,
      timeoutMs: upstream.timeoutSeconds * 1000,
      signal,
    };
  }
}

const NONE: readonly string[] = [];

/** What the provider leaves out. Reasoning that is asked for in two ways is not left out. */
function ignoredParameters(request: ChatRequest, taken: readonly string[]): readonly string[] {
  let ignored: string[] | null = null;
  for (const name of EXTRA_PARAMETERS) {
    if (request[name] === undefined || taken.includes(name)) continue;
    if (name === "thinking" && request.reasoning_effort !== undefined) continue;
    (ignored ??= []).push(name);
  }
  return ignored ?? NONE;
}

/** The adapter found a mistake in the request that is one for every upstream. */
function isOwnMistake(error: unknown): boolean {
  return error instanceof ApiError && error.code !== "capability_not_supported";
}

/** The upstream rejected the request. The message is ours; `param` is a path into the client's request. */
function rejection(failure: UpstreamFailure, model: Model): ApiError {
  const { id, limits, type } = model;
  const { param } = failure.options;
  if (type === "embedding" && failure.kind === "too_long") {
    return inputTooLong(model, "input", failure);
  }
  const { context_tokens: contextTokens } = limits;
  const limit = contextTokens === undefined
    ? ""
    : ` (${contextTokens} tokens, including the answer)`;
  return failure.kind === "too_long"
    ? new ApiError(
      "prompt_too_long",
      `The messages exceed the context length of ${id}${limit}. Shorten them or set a smaller max_tokens.`,
      { param: "messages", cause: failure },
    )
    : new ApiError(
      "invalid_value",
      `The model rejected this request${param === undefined ? "" : `: check ${param}`}.`,
      {
        ...(param === undefined ? {} : { param }),
        cause: failure,
      },
    );
}

/** No upstream answered: the failure that counts, as clients see it. */
export function exhausted(failure: UpstreamFailure): ApiError {
  const retryAfterSeconds = failure.options.retryAfterSeconds ?? RETRY_SECONDS;
  return failure.kind === "timeout"
    ? new ApiError("upstream_timeout", "The model did not respond in time. Try again.", {
      cause: failure,
      retryAfterSeconds,
    })
    : new ApiError("upstream_failed", "The model failed to respond. Try again.", {
      cause: failure,
      retryAfterSeconds,
    });
}
