import { Slots } from "../lib/slots.ts";
import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import type { Adapter, UpstreamTarget } from "./adapter.ts";
import { Breaker, type BreakerHealth } from "../lib/breaker.ts";
import { causeOf, type UpstreamFailure } from "./failure.ts";

/** For whom an attempt is made, as the log names it. */
export interface AttemptSubject {
  readonly request_id?: string | undefined;
  readonly task_id?: string | undefined;
}

/** The end of an attempt at an upstream. */
export interface AttemptReport {
  readonly provider: string;
  readonly model: string;
  /** Null: it succeeded. */
  readonly failure: UpstreamFailure | null;
  readonly subject: AttemptSubject;
}

/** The circuit breaker of an upstream opened, or closed again. */
export interface BreakerReport {
  readonly provider: string;
  readonly model: string;
  readonly isOpen: boolean;
  readonly health: BreakerHealth;
}

export interface AdmissionOptions {
  adapters: { get(name: string): Adapter | undefined };
  /** No upstream may be called at all. */
  isClosed?: boolean;
  /** Called after every attempt, for metrics and the log. */
  onAttempt(attempt: AttemptReport): void;
  onBreaker?(change: BreakerReport): void;
}

/** Permission to send one request to an upstream. Release or abandon it once. */
export interface Permit {
  /** The first bytes of a response arrived. */
  responseStarted(): void;
  /** Null: the attempt succeeded. */
  release(failure: UpstreamFailure | null): void;
  /** The attempt was given up for reasons that say nothing about the upstream. */
  abandon(): void;
}

/** Whether a job is new to an upstream or has failed there before. */
export type AttemptKind = "first" | "retry";

/** Decides whether an upstream may be called now: circuit breaker and concurrency. Shared by chat and media. */
export class Admission {
  readonly #breaker = new Breaker();
  readonly #slots = new Slots();
  /** Upstreams whose breaker was reported as open. */
  readonly #open = new Set<string>();

  constructor(private readonly options: AdmissionOptions) {}

  /** No upstream may be called at all. */
  get isClosed(): boolean {
    return this.options.isClosed === true;
  }

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

  /** A permit for a request of an account; null when the upstream is at capacity or its breaker is open. */
  acquire(
    upstream: Upstream,
    provider: Provider,
    account: string,
    subject: AttemptSubject = {},
  ): Permit | null {
    const name = upstreamName(upstream);
    const isWhileOpen = this.#breaker.allowWhileOpen(name, account);
    const release = this.#takeSlot(
      provider,
      () => isWhileOpen || this.#breaker.allow(name, account),
    );
    if (release === null) return null;
    const untrack = isWhileOpen ? this.#breaker.trackWhileOpen(name) : () => {};
    const finish = () => {
      release();
      untrack();
    };
    return {
      responseStarted: () => this.#breaker.recordResponse(name, account),
      release: (failure) => {
        finish();
        this.#updateBreaker(name, failure, account, isWhileOpen);
        this.reportAttempt(upstream, failure, subject);
      },
      abandon: () => {
        if (!isWhileOpen) this.#breaker.recordAbandoned(name);
        finish();
      },
    };
  }

  /** Reports the end of a request to the circuit breaker. */
  #updateBreaker(
    name: string,
    failure: UpstreamFailure | null,
    account: string,
    isWhileOpen: boolean,
  ): void {
    const cause = failure === null ? "none" : causeOf(failure);
    switch (cause) {
      case "none":
        this.#breaker.recordResponse(name, account);
        return this.#breaker.recordSuccess(name);
      case "outage":
      case "overload":
        return this.#breaker.recordFailure(name, {
          retryAfterSeconds: failure!.options.retryAfterSeconds,
          cause,
          account,
        });
      case "request":
        return this.#breaker.recordFailure(name, { cause: "request", account });
      case "client":
        if (!isWhileOpen) this.#breaker.recordAbandoned(name);
    }
  }

  /**
   * A permit for a background job. An upstream that fails on particular jobs is not down: failures of one job
   * count once, and jobs that are new to the upstream are still sent.
   */
  acquireForJob(
    upstream: Upstream,
    provider: Provider,
    attempt: AttemptKind,
    subject: AttemptSubject = {},
  ): Permit | null {
    const name = upstreamName(upstream);
    const isClosed = () => this.#breaker.getHealth(name).state === "closed";
    const isWhileOpen = this.#allowsJobWhileOpen(name, attempt);
    const isProbe = !isWhileOpen && !isClosed();
    const release = this.#takeSlot(provider, () => isWhileOpen || this.#breaker.allow(name));
    if (release === null) return null;
    return {
      responseStarted() {},
      release: (failure) => {
        release();
        if (failure === null || failure.isRejection) this.#breaker.recordSuccess(name);
        else if (!isJobSpecific(failure)) {
          this.#breaker.recordFailure(name, {
            retryAfterSeconds: failure.options.retryAfterSeconds,
          });
        } else if (isProbe || (attempt === "first" && isClosed())) {
          this.#breaker.recordFailure(name, { cause: "request" });
        }
        this.reportAttempt(upstream, failure, subject);
      },
      abandon: () => {
        if (isProbe) this.#breaker.recordAbandoned(name);
        release();
      },
    };
  }

  /** A slot of the provider, if the breaker allows its use. The slot comes first: the breaker's yes may start a probe. */
  #takeSlot(provider: Provider, isAllowed: () => boolean): (() => void) | null {
    if (this.isClosed) return null;
    const release = this.#slots.take(provider.id, provider.concurrencyMax);
    if (release === null || isAllowed()) return release;
    release();
    return null;
  }

  /** Whether `acquireForJob` would return a permit now; without `attempt`, one by a closed breaker. */
  hasCapacity(upstream: Upstream, config: Config, attempt?: AttemptKind): boolean {
    const { id, concurrencyMax } = config.providers.get(upstream.provider)!;
    const isFull = concurrencyMax !== null && this.#slots.count(id) >= concurrencyMax;
    const name = upstreamName(upstream);
    return !isFull &&
      (this.#breaker.wouldAllow(name) || this.#allowsJobWhileOpen(name, attempt));
  }

  #allowsJobWhileOpen(name: string, attempt: AttemptKind | undefined): boolean {
    return attempt === "first" && this.#breaker.allowWhileOpen(name);
  }

  reportAttempt(
    upstream: Upstream,
    failure: UpstreamFailure | null,
    subject: AttemptSubject = {},
  ): void {
    const { provider, model } = upstream;
    this.options.onAttempt({ provider, model, failure, subject });
    if (failure !== null || this.#open.size > 0) this.#reportBreaker(upstream);
  }

  /** Once when it opens and once when it closes; failed probes in between are not reported. */
  #reportBreaker(upstream: Upstream): void {
    const name = upstreamName(upstream);
    const health = this.#breaker.getHealth(name);
    const isOpen = health.state !== "closed";
    if (isOpen === this.#open.has(name)) return;
    if (isOpen) this.#open.add(name);
    else this.#open.delete(name);
    const { provider, model } = upstream;
    this.options.onBreaker?.({ provider, model, isOpen, health });
  }

  getHealth(upstream: Upstream): BreakerHealth & { in_flight: number } {
    return {
      ...this.#breaker.getHealth(upstreamName(upstream)),
      in_flight: this.#slots.count(upstream.provider),
    };
  }

  /** Seconds until the first of these may be called again. */
  secondsUntilRetry(upstreams: readonly Upstream[]): number {
    return upstreams.length === 0
      ? 1
      : this.#breaker.secondsUntilRetry(upstreams.map(upstreamName));
  }
}

/** The upstream responded with a failure and asked for no pause: this particular job may be the reason. */
function isJobSpecific({ kind, received, hasProviderResponse, options }: UpstreamFailure): boolean {
  return kind === "failed" && (received === "declined" || hasProviderResponse) &&
    options.retryAfterSeconds === undefined;
}

/** Key of an upstream: its provider, and the provider's name of the model. */
export function upstreamName(upstream: Upstream): string {
  return `${upstream.provider}/${upstream.model}`;
}
