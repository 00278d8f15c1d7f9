import { Slots } from "../lib/slots.ts";
import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import type { Adapter, UpstreamTarget } from "./adapter.ts";
import { Breaker, type Health } from "../lib/breaker.ts";
import { causeOf, type FailureKind, type UpstreamFailure } from "./failure.ts";

export interface AdmissionOptions {
  adapters: { get(name: string): Adapter | undefined };
  /** Told of every attempt, for metrics and the log. `kind` is null when it went well. */
  onAttempt(
    attempt: { provider: string; model: string; kind: FailureKind | null; error?: unknown },
  ): void;
}

/** A place at an upstream. End it once, with how it went. */
export interface Permit {
  /** The first bytes of an answer came. */
  began(): void;
  /** Null: it went well. */
  end(failure: UpstreamFailure | null): void;
  /** Given up for reasons that say nothing of the upstream. */
  abandon(): void;
}

/** Whether a job is new to an upstream, or has failed there before. */
export type AttemptKind = "first" | "again";

/** Who asks: a job that comes again until it is done, or a request of an account. */
export type AdmissionCaller = AttemptKind | { readonly account: string };

/** Who may be asked now: who is ill, and how much each may bear at once. One for chat and media. */
export class Admission {
  readonly #breaker = new Breaker();
  readonly #slots = new Slots();

  constructor(private readonly options: AdmissionOptions) {}

  adapterOf(provider: Provider): Adapter {
    return this.options.adapters.get(provider.adapter)!;
  }

  targetOf(model: Model, upstream: Upstream, provider: Provider): UpstreamTarget {
    const { max_output_tokens } = model.limits;
    return {
      model: upstream.model,
      baseUrl: provider.baseUrl ?? this.adapterOf(provider).baseUrl ?? "",
      apiKey: provider.apiKey,
      headers: provider.headers,
      extraBody: upstream.extraBody,
      ...(typeof max_output_tokens === "number" ? { maxOutputTokens: max_output_tokens } : {}),
    };
  }

  /** A place at the upstream for a request of an account; null when it is full, or rests for this account. */
  enter(
    upstream: Upstream,
    provider: Provider,
    asker?: Exclude<AdmissionCaller, AttemptKind>,
  ): Permit | null {
    const name = upstreamName(upstream);
    const account = asker?.account;
    const isKnock = this.#mayKnock(name, asker);
    const release = this.#take(provider, () => isKnock || this.#breaker.mayTry(name, account));
    if (release === null) return null;
    const leave = isKnock ? this.#breaker.startTrial(name) : () => {};
    const over = () => {
      release();
      leave();
    };
    return {
      began: () => this.#breaker.served(name, account),
      end: (failure) => {
        over();
        this.#judge(name, failure, account, isKnock);
        this.tell(upstream, failure);
      },
      abandon: () => {
        if (!isKnock) this.#breaker.abandoned(name);
        over();
      },
    };
  }

  /** What the end of a chat tells the circuit breaker. */
  #judge(
    name: string,
    failure: UpstreamFailure | null,
    account: string | undefined,
    isKnock: boolean,
  ): void {
    const cause = failure === null ? "none" : causeOf(failure);
    switch (cause) {
      case "none":
        this.#breaker.served(name, account);
        return this.#breaker.succeeded(name);
      case "outage":
      case "overload":
        return this.#breaker.failed(name, {
          restSeconds: failure!.options.retryAfterSeconds,
          cause,
          account,
        });
      case "request":
        return this.#breaker.failed(name, { cause: "request", account });
      case "client":
        if (!isKnock) this.#breaker.abandoned(name);
    }
  }

  /**
   * The same for a job that comes again until it is done. An upstream that fails on particular jobs is not
   * down: a job's failures count once, and they keep no job waiting that is new to the upstream.
   */
  enterJob(upstream: Upstream, provider: Provider, trial: AttemptKind): Permit | null {
    const name = upstreamName(upstream);
    const isWell = () => this.#breaker.healthOf(name).state === "closed";
    const isKnock = this.#mayKnock(name, trial);
    const isProbe = !isKnock && !isWell();
    const release = this.#take(provider, () => isKnock || this.#breaker.mayTry(name));
    if (release === null) return null;
    return {
      began() {},
      end: (failure) => {
        release();
        if (failure === null || failure.isRejection) this.#breaker.succeeded(name);
        else if (!isOfJob(failure)) {
          this.#breaker.failed(name, { restSeconds: failure.options.retryAfterSeconds });
        } else if (isProbe || (trial === "first" && isWell())) {
          this.#breaker.failed(name, { cause: "request" });
        }
        this.tell(upstream, failure);
      },
      abandon: () => {
        if (isProbe) this.#breaker.abandoned(name);
        release();
      },
    };
  }

  /** A slot at the provider, if there is one and the breaker lets it be used; asked in this order, as its yes is a probe. */
  #take(provider: Provider, mayTry: () => boolean): (() => void) | null {
    const release = this.#slots.take(provider.id, provider.concurrencyMax);
    if (release === null || mayTry()) return release;
    release();
    return null;
  }

  /** Whether `enter` or `enterJob` would give this one a place now; takes none. */
  hasRoom(upstream: Upstream, config: Config, asker?: AdmissionCaller): boolean {
    const { id, concurrencyMax } = config.providers.get(upstream.provider)!;
    const isFull = concurrencyMax !== null && this.#slots.count(id) >= concurrencyMax;
    const name = upstreamName(upstream);
    return !isFull &&
      (this.#breaker.wouldTry(name) || this.#mayKnock(name, asker));
  }

  #mayKnock(name: string, asker?: AdmissionCaller): boolean {
    if (typeof asker === "object") return this.#breaker.mayKnock(name, asker.account);
    return asker === "first" && this.#breaker.mayKnock(name);
  }

  tell({ provider, model }: Upstream, failure: UpstreamFailure | null): void {
    const kind = failure?.kind ?? null;
    this.options.onAttempt({ provider, model, kind, error: failure ?? undefined });
  }

  healthOf(upstream: Upstream): Health & { in_flight: number } {
    return {
      ...this.#breaker.healthOf(upstreamName(upstream)),
      in_flight: this.#slots.count(upstream.provider),
    };
  }

  /** Seconds until the first of these may be tried again. */
  secondsUntil(upstreams: readonly Upstream[]): number {
    return upstreams.length === 0 ? 1 : this.#breaker.secondsUntil(upstreams.map(upstreamName));
  }
}

/** It answered that it failed, and asked for no rest: the job may be what it fails on. */
function isOfJob({ kind, received, hasProviderResponse, options }: UpstreamFailure): boolean {
  return kind === "failed" && (received === "declined" || hasProviderResponse) &&
    options.retryAfterSeconds === undefined;
}

/** What an upstream is remembered by: its provider and what that calls the model. */
export function upstreamName(upstream: Upstream): string {
  return `${upstream.provider}/${upstream.model}`;
}
