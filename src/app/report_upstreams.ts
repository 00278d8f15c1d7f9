import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { AdmissionOptions, AttemptReport } from "../upstream/admission.ts";

type UpstreamReporter = Pick<AdmissionOptions, "onAttempt" | "onBreaker">;

/**
 * Counts attempts and logs those that failed, with the request they belong to. What concerns an operator at once is
 * a warning when it begins, not for every request: a key that a provider rejects, a circuit breaker that opens.
 */
export function reportUpstreams(
  metrics: Pick<Metrics, "attempts">,
  log: Pick<Log, "debug" | "info" | "warn">,
): UpstreamReporter {
  const keys = new RejectedKeys(log);
  return {
    onAttempt(report) {
      const { provider, model, failure, subject } = report;
      metrics.attempts.inc({ provider, outcome: failure?.kind ?? "ok" });
      keys.observe(report);
      if (failure === null) return;
      const { kind, options: { status } } = failure;
      log.info("upstream attempt failed", { ...subject, provider, model, reason: kind, status });
      // The provider's own words may hold anything.
      log.debug("upstream failed", { ...subject, provider, model, error: failure });
    },
    onBreaker({ provider, model, isOpen, health: { failures, openUntil } }) {
      if (!isOpen) return log.info("circuit breaker closed", { provider, model });
      const seconds = Math.max(0, Math.ceil((openUntil - performance.now()) / 1000));
      log.warn("circuit breaker opened", { provider, model, failures, retry_in_seconds: seconds });
    },
  };
}

/** Providers whose last answer was that our key is not valid. */
class RejectedKeys {
  readonly #providers = new Set<string>();

  constructor(private readonly log: Pick<Log, "info" | "warn">) {}

  observe({ provider, model, failure, subject }: AttemptReport): void {
    if (failure === null) {
      if (this.#providers.size === 0 || !this.#providers.delete(provider)) return;
      return this.log.info("provider accepts our key again", { provider });
    }
    const { kind, options: { status } } = failure;
    if (kind !== "unauthorized" || this.#providers.has(provider)) return;
    this.#providers.add(provider);
    this.log.warn("provider rejects our key", { ...subject, provider, model, status });
  }
}
