import { Refusal } from "../base/refusal.ts";
import { Slots } from "../base/slots.ts";
import type { Model, Plan, Provider, Upstream } from "../config/plan.ts";
import type { Adapter, Target } from "./adapter.ts";
import { Breaker, type Health } from "./breaker.ts";
import type { Attempt } from "./call_chat.ts";
import { tryingOrder } from "./choose.ts";
import { UpstreamFailure } from "./failure.ts";

export interface UpstreamsOptions {
  adapters: ReadonlyMap<string, Adapter>;
  /** Told of every attempt, for metrics and the log. `kind` is null when it went well. */
  onAttempt(
    attempt: {
      provider: string;
      model: string;
      kind: UpstreamFailure["kind"] | null;
      error?: unknown;
    },
  ): void;
}

/** Something an upstream is giving us; `release` gives its place back. */
export interface Given<T> {
  value: T;
  /** Call once it is over. `failed` when it broke after it began. */
  release(failed?: UpstreamFailure): void;
}

const NOBODY_RETRY_SECONDS = 1;

/** Finds an upstream that answers. Knows who is ill, and how much each may bear at once. */
export class Upstreams {
  readonly #breaker = new Breaker();
  readonly #slots = new Slots();

  constructor(private readonly options: UpstreamsOptions) {}

  /** Tries a model's upstreams in turn until one gives what `ask` asks for. */
  async first<T>(
    plan: Plan,
    model: Model,
    signal: AbortSignal,
    ask: (attempt: Attempt) => Promise<T>,
  ): Promise<Given<T>> {
    let last: UpstreamFailure | Refusal | null = null;
    for (const upstream of tryingOrder(model.upstreams)) {
      const provider = plan.providers.get(upstream.provider)!;
      const release = this.#admit(upstream, provider);
      if (release === null) continue;
      try {
        const value = await ask(this.#attempt(model, upstream, provider, signal));
        return { value, release: (failed) => this.#finish(upstream, release, failed ?? null) };
      } catch (error) {
        if (error instanceof Refusal) {
          // This upstream cannot be asked that way; nothing was sent, and another may do it.
          this.#breaker.abandoned(nameOf(upstream));
          release();
          if (error.code !== "capability_not_supported") throw error;
          last ??= error;
          continue;
        }
        const failure = error instanceof UpstreamFailure
          ? error
          : new UpstreamFailure("failed", "the attempt failed", { cause: error });
        if (signal.aborted) {
          this.#breaker.abandoned(nameOf(upstream));
          release();
          throw error;
        }
        this.#finish(upstream, release, failure);
        if (failure.isRejection) throw rejection(failure);
        last = failure;
      }
    }
    if (last instanceof Refusal) throw last;
    throw last === null ? this.#nobody(model) : exhausted(last);
  }

  healthOf(upstream: Upstream): Health & { in_flight: number } {
    return {
      ...this.#breaker.healthOf(nameOf(upstream)),
      in_flight: this.#slots.count(upstream.provider),
    };
  }

  #admit(upstream: Upstream, provider: Provider): (() => void) | null {
    const release = this.#slots.take(provider.id, provider.concurrencyMax);
    if (release === null) return null;
    if (this.#breaker.mayTry(nameOf(upstream))) return release;
    release();
    return null;
  }

  #attempt(model: Model, upstream: Upstream, provider: Provider, signal: AbortSignal): Attempt {
    const { max_output_tokens } = model.limits;
    const adapter = this.options.adapters.get(provider.adapter)!;
    const target: Target = {
      model: upstream.model,
      baseUrl: provider.baseUrl ?? adapter.baseUrl ?? "",
      apiKey: provider.apiKey,
      headers: provider.headers,
      ...(typeof max_output_tokens === "number" ? { maxOutputTokens: max_output_tokens } : {}),
    };
    return { adapter, target, timeoutMs: upstream.timeoutSeconds * 1000, signal };
  }

  #finish(upstream: Upstream, release: () => void, failure: UpstreamFailure | null): void {
    release();
    const name = nameOf(upstream);
    // A rejected request shows a healthy upstream.
    if (failure === null || failure.isRejection) this.#breaker.succeeded(name);
    else this.#breaker.failed(name, failure.options.retryAfterSeconds);
    this.options.onAttempt({
      provider: upstream.provider,
      model: upstream.model,
      kind: failure?.kind ?? null,
      error: failure ?? undefined,
    });
  }

  #nobody(model: Model): Refusal {
    const names = model.upstreams.map(nameOf);
    return new Refusal(
      "model_unavailable",
      `The model "${model.id}" cannot answer just now: try again soon.`,
      {
        status: 503,
        param: "model",
        retryAfterSeconds: names.length === 0
          ? NOBODY_RETRY_SECONDS
          : this.#breaker.secondsUntil(names),
      },
    );
  }
}

function nameOf(upstream: Upstream): string {
  return `${upstream.provider}/${upstream.model}`;
}

/** The client's own fault, in our words: what the upstream said may name it. */
function rejection(failure: UpstreamFailure): Refusal {
  const { param } = failure.options;
  return failure.kind === "too_long"
    ? new Refusal("prompt_too_long", "The messages are longer than this model can take.", {
      param: "messages",
      cause: failure,
    })
    : new Refusal(
      "invalid_value",
      `The model does not accept this request${param === undefined ? "" : `: see ${param}`}.`,
      {
        ...(param === undefined ? {} : { param }),
        cause: failure,
      },
    );
}

function exhausted(failure: UpstreamFailure): Refusal {
  const retryAfterSeconds = failure.options.retryAfterSeconds ?? 2;
  return failure.kind === "timeout"
    ? new Refusal("upstream_timeout", "The model did not answer in time: try again.", {
      cause: failure,
      retryAfterSeconds,
    })
    : new Refusal("upstream_failed", "The model failed to answer: try again.", {
      cause: failure,
      retryAfterSeconds,
    });
}
