import { ApiError } from "../lib/api_error.ts";
import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import type { ChatRequest, ImageInput } from "./adapter.ts";
import type { Admission } from "./admission.ts";
import type { Health } from "../lib/breaker.ts";
import type { Attempt, WrittenChat } from "./call_chat.ts";
import { type CallIds, restoreCallIds } from "./call_ids.ts";
import { attemptOrder } from "./choose.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Http1Client } from "./http1/client.ts";

/** Something an upstream is giving us; `release` gives its place back. */
export interface GivenUpstream<T> {
  value: T;
  /** Whose it is. */
  upstream: Upstream;
  /** Call once it is over. `failed` when it broke after it began. */
  release(failed?: UpstreamFailure): void;
}

/** What is asked of a model, and by whom. */
export interface UpstreamRequestOptions {
  config: Config;
  model: Model;
  /** Failures that a request may have caused count for its account alone. */
  account: string;
  /** Aborts when nobody waits for an answer any more. */
  signal: AbortSignal;
}

/** Finds an upstream that answers. */
export class Upstreams {
  constructor(
    readonly admission: Admission,
    private readonly http1: Http1Client | null,
    private readonly callIds: CallIds | null = null,
  ) {}

  /** Tries a model's upstreams in turn until one gives what `ask` asks for. */
  async first<T>(
    { config, model, account, signal }: UpstreamRequestOptions,
    ask: (attempt: Attempt) => Promise<T>,
  ): Promise<GivenUpstream<T>> {
    let last: UpstreamFailure | ApiError | null = null;
    for (const upstream of attemptOrder(model.upstreams)) {
      const provider = config.providers.get(upstream.provider)!;
      const permit = this.admission.enter(upstream, provider, { account });
      if (permit === null) continue;
      try {
        const value = await ask(this.#attempt(upstream, provider, signal));
        permit.began();
        return { value, upstream, release: (failed) => permit.end(failed ?? null) };
      } catch (error) {
        if (error instanceof ApiError) {
          // This upstream cannot be asked that way; nothing was sent, and another may do it.
          permit.abandon();
          if (error.code !== "capability_not_supported") throw error;
          last ??= error;
          continue;
        }
        const failure = error instanceof UpstreamFailure
          ? error
          : new UpstreamFailure("failed", "the attempt failed", { cause: error });
        if (signal.aborted) {
          permit.abandon();
          throw error;
        }
        permit.end(failure);
        if (failure.isRejection) throw rejection(failure, model);
        last = failure;
      }
    }
    if (last instanceof ApiError) throw last;
    throw last === null ? this.#nobody(model) : exhausted(last);
  }

  /** A request as this upstream gets it; throws a `Refusal` where it cannot be asked that way. */
  write(config: Config, model: Model, upstream: Upstream, asked: ChatRequest): WrittenChat {
    const provider = config.providers.get(upstream.provider)!;
    const target = this.admission.targetOf(model, upstream, provider);
    const own = this.callIds === null ? asked : restoreCallIds(this.callIds, asked, target.baseUrl);
    const sent = this.admission.adapterOf(provider).chat!.write(own, target);
    return { target, asked, sent };
  }

  /** The most tokens that an image counts at this upstream; null where that is not known. */
  imageTokens(config: Config, upstream: Upstream, image: ImageInput): number | null {
    const provider = config.providers.get(upstream.provider)!;
    return this.admission.adapterOf(provider).chat?.imageTokens?.(image, upstream.model) ?? null;
  }

  healthOf(upstream: Upstream): Health & { in_flight: number } {
    return this.admission.healthOf(upstream);
  }

  #attempt(upstream: Upstream, provider: Provider, signal: AbortSignal): Attempt {
    return {
      upstream,
      adapter: this.admission.adapterOf(provider),
      http1: this.http1,
      callIds: this.callIds,
      timeoutMs: upstream.timeoutSeconds * 1000,
      signal,
    };
  }

  #nobody(model: Model): ApiError {
    return new ApiError(
      "model_unavailable",
      `The model "${model.id}" cannot answer just now: try again soon.`,
      {
        kind: "unavailable",
        param: "model",
        retryAfterSeconds: this.admission.secondsUntil(model.upstreams),
      },
    );
  }
}

/** The client's own fault, in our words; `param` is a path into the client's own request. */
function rejection(failure: UpstreamFailure, { id, limits }: Model): ApiError {
  const { param } = failure.options;
  const { context_tokens: most } = limits;
  const limit = most === undefined ? "" : `: ${most} tokens, with the answer`;
  return failure.kind === "too_long"
    ? new ApiError(
      "prompt_too_long",
      `The messages are longer than ${id} can take${limit}. Send less, or set a smaller max_tokens.`,
      { param: "messages", cause: failure },
    )
    : new ApiError(
      "invalid_value",
      `The model does not accept this request${param === undefined ? "" : `: see ${param}`}.`,
      {
        ...(param === undefined ? {} : { param }),
        cause: failure,
      },
    );
}

function exhausted(failure: UpstreamFailure): ApiError {
  const retryAfterSeconds = failure.options.retryAfterSeconds ?? 2;
  return failure.kind === "timeout"
    ? new ApiError("upstream_timeout", "The model did not answer in time: try again.", {
      cause: failure,
      retryAfterSeconds,
    })
    : new ApiError("upstream_failed", "The model failed to answer: try again.", {
      cause: failure,
      retryAfterSeconds,
    });
}
