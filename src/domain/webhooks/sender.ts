import { GroupCommit } from "../../lib/group_commit.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import { attemptDelivery, type AttemptResult, type WebhookPost } from "./attempt.ts";
import { claimDeliveries, type ClaimedDelivery, dueDeliveries } from "./claim.ts";
import { DELIVERY, type DeliveryMessage } from "./enqueue_event.ts";
import { parseEventData } from "./event.ts";
import { StoredJsonError } from "../../lib/stored_json.ts";
import { AttemptRecorder, releasedClaim } from "./attempt_recorder.ts";
import { decideRetry } from "./decide_retry.ts";
import {
  type Destination,
  DESTINATION_SLOTS,
  DestinationQueues,
  WAIT_MS_MAX,
} from "./destination_queues.ts";
import type { AttemptRecord } from "./record_attempts.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";
import { revealSecret } from "./secrets.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { Span } from "../../platform/tracing/span.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";

export interface SenderDeps {
  sql: Queries;
  secretBox: SecretBox;
  post: WebhookPost;
  /** The configuration in force: retries, timeout, when an endpoint is disabled. */
  config: () => Pick<Config, "webhooks" | "storage">;
  /** A task's outputs with new signed URLs. */
  renewOutput: (output: readonly unknown[]) => readonly unknown[];
  /** Wakes the worker for a retry that is due soon; the queue's sweeper finds the others. */
  notify: (message: DeliveryMessage, delayMs: number) => void;
  /** Continues the traces of requests; left out: no traces. */
  tracer?: Tracer | null;
  onAttempt?: (outcome: AttemptRecord["outcome"], latencyMs: number) => void;
  log: Pick<Log, "info" | "warn" | "error">;
}

/** The queue's `JobHandler`, repeated here because this layer cannot import it. */
export interface DeliveryWorker extends AsyncDisposable {
  readonly slots: number;
  step(id: string, signal: AbortSignal): Promise<"done" | { readonly againInMs: number }>;
  due(limit: number): Promise<readonly string[]>;
}

/** Steps at once. A step only claims; the slots of destinations limit the sending. */
const STEPS = 256;
/** Larger batches do not make a statement cheaper per item, only longer. */
const BATCH_MAX = 256;
/** Part of the lease in addition to waiting and sending. */
const LEASE_MARGIN_MS = 15_000;
/** Retries further away are left to the sweeper. */
const NOTIFY_MS_MAX = 60_000;
/** How long running attempts may take when the gateway stops; then they are aborted and released. */
const GRACE_MS = 3_000;

/**
 * Sends events. A step claims a delivery and puts it into the queue of its destination, so that a receiver that
 * hangs does not block the others; the slots of the destination decide when it is sent.
 */
export class Sender implements DeliveryWorker {
  readonly slots = STEPS;
  readonly #queues = new DestinationQueues();
  readonly #claims: GroupCommit<string, ClaimedDelivery | null>;
  readonly #recorder: AttemptRecorder;
  readonly #sends = new Set<Promise<void>>();
  readonly #giveUp = new AbortController();
  #isClosing = false;

  constructor(private readonly deps: SenderDeps) {
    this.#claims = new GroupCommit({ run: (ids) => this.#claim(ids), itemsMax: BATCH_MAX });
    this.#recorder = new AttemptRecorder(deps, BATCH_MAX);
  }

  /** Number of running attempts. */
  get sending(): number {
    return this.#queues.sending;
  }

  async step(id: string): Promise<"done"> {
    // Another node or the next start will claim it.
    if (this.#isClosing) return "done";
    const delivery = await this.#claims.add(id);
    if (delivery !== null) this.#accept([delivery]);
    return "done";
  }

  due(limit: number): Promise<readonly string[]> {
    return dueDeliveries(this.deps.sql, limit, this.#queues.blocked(), 2 * DESTINATION_SLOTS);
  }

  /** To be called periodically. */
  expireHealth(): void {
    this.#queues.expireHealth();
  }

  async #claim(ids: readonly string[]): Promise<(ClaimedDelivery | null)[]> {
    const wanted = { ids, notOf: this.#queues.blocked() };
    const claimed = await claimDeliveries(this.deps.sql, wanted, this.#leaseSeconds());
    const byId = new Map(claimed.map((delivery) => [delivery.id, delivery]));
    return ids.map((id) => {
      const delivery = byId.get(id) ?? null;
      // A message may be delivered twice.
      byId.delete(id);
      return delivery;
    });
  }

  #leaseSeconds(): number {
    const { timeoutSeconds } = this.deps.config().webhooks;
    return timeoutSeconds + (WAIT_MS_MAX + LEASE_MARGIN_MS) / 1000;
  }

  #accept(claimed: readonly ClaimedDelivery[]): void {
    const { retrySeconds } = this.deps.config().webhooks;
    for (const delivery of claimed) {
      const early = retrySeconds[0]! - delivery.ageSeconds;
      if (this.#isClosing) this.#release(delivery, 0);
      else if (delivery.off !== null) this.#end(delivery, delivery.off);
      else if (delivery.attempts === 0 && early > 0) this.#release(delivery, early * 1000);
      else this.#queues.destination(delivery.destination).waiting.push(delivery);
    }
    for (const name of new Set(claimed.map(({ destination }) => destination))) {
      this.#pump(this.#queues.destination(name));
    }
  }

  #pump(destination: Destination): void {
    for (const action of this.#queues.actions(destination)) {
      if (action.kind === "send") this.#track(this.#send(destination, action.delivery));
      // Spread over a second, so that they do not all wake at the same moment.
      else {this.#release(
          action.delivery,
          action.waitMs + (action.waitMs > 0 ? Math.random() * 1000 : 0),
        );}
    }
    const more = this.#isClosing ? 0 : this.#queues.prefetch(destination);
    if (more > 0) this.#track(this.#fetchMore(destination, more));
    else this.#queues.removeIdle(destination);
  }

  async #fetchMore(destination: Destination, limit: number): Promise<void> {
    destination.isClaiming = true;
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await claimDeliveries(
        this.deps.sql,
        { destination: destination.name, limit },
        this.#leaseSeconds(),
      );
    } catch (error) {
      if (!isStorageDown(error)) this.deps.log.error("webhook deliveries not claimed", { error });
    }
    destination.isClaiming = false;
    // After a failure too: the sweeper finds what is left.
    destination.mayHaveMore = claimed.length === limit;
    this.#accept(claimed);
    this.#queues.removeIdle(destination);
  }

  async #send(destination: Destination, delivery: ClaimedDelivery): Promise<void> {
    let seen: AttemptResult | null = null;
    try {
      seen = await this.#attempt(delivery);
    } catch (error) {
      this.deps.log.error("webhook event not sent", { delivery: delivery.id, error });
    }
    const isGivenUp = this.#giveUp.signal.aborted && seen?.status == null;
    const reached = seen === null || isGivenUp ? null : seen.status !== null;
    for (const next of this.#queues.release(destination, reached)) this.#pump(next);
    if (seen === null || isGivenUp) {
      return await this.#recorder.record(releasedClaim(delivery, isGivenUp ? 0 : 60_000));
    }

    const decision = decideRetry(delivery, seen, this.deps.config().webhooks.retrySeconds);
    const waitMs = decision.outcome === "retry" ? decision.waitMs : 0;
    await this.#recorder.record({
      id: delivery.id,
      fence: delivery.fence,
      outcome: decision.outcome,
      reason: decision.outcome === "failed" ? decision.reason : null,
      wait_ms: waitMs,
      status: seen.status,
      error: seen.error,
      response: seen.response,
      latency_ms: seen.latencyMs,
      attempted: true,
    });
    this.deps.onAttempt?.(decision.outcome, seen.latencyMs);
    if (decision.outcome === "retry" && waitMs <= NOTIFY_MS_MAX) this.#notify(delivery.id, waitMs);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<AttemptResult> {
    const { sql, secretBox, config, post } = this.deps;
    const owner = { account: delivery.account, endpoint: delivery.endpoint };
    const secrets = delivery.secrets.length === 0
      ? [(await revealSecret(sql, secretBox, owner)).secret]
      : delivery.secrets.map(({ id, secret }) => secretBox.unseal(secret, id));
    const span = this.deps.tracer?.resume("webhook attempt", delivery.traceparent, {
      kind: "client",
      attributes: attemptAttributes(delivery),
    });
    const sent = { url: delivery.url, event: this.#renewed(delivery) };
    const result = await attemptDelivery(post, sent, {
      secrets,
      traceparent: span?.traceparent,
      timeoutMs: config().webhooks.timeoutSeconds * 1000,
      signal: this.#giveUp.signal,
    });
    if (span) endAttemptSpan(span, result);
    return result;
  }

  /** The event as stored, with new URLs when less than half of their lifetime is left. */
  #renewed({ event, taskId, ageSeconds }: ClaimedDelivery): ClaimedDelivery["event"] {
    const { config, renewOutput, log } = this.deps;
    if (taskId === null || ageSeconds < config().storage.outputs.urlHours * 1800) return event;
    try {
      const stored = parseEventData(event.data);
      if (stored.output.length === 0) return event;
      return { ...event, data: JSON.stringify({ ...stored, output: renewOutput(stored.output) }) };
    } catch (error) {
      if (!(error instanceof StoredJsonError)) throw error;
      // The receiver gets what was stored: it can still ask for the task.
      log.error("stored webhook event unreadable, sent as it is", { event: event.id, error });
      return event;
    }
  }

  #end(delivery: ClaimedDelivery, reason: NonNullable<ClaimedDelivery["off"]>): void {
    this.#track(
      this.#recorder.record({ ...releasedClaim(delivery, 0), outcome: "failed", reason }),
    );
  }

  #release(delivery: ClaimedDelivery, waitMs: number): void {
    this.#track(this.#recorder.record(releasedClaim(delivery, waitMs)));
  }

  #notify(id: string, delayMs: number): void {
    if (!this.#isClosing) this.deps.notify({ kind: DELIVERY, id }, delayMs);
  }

  #track(work: Promise<void>): void {
    const send = work.finally(() => this.#sends.delete(send));
    this.#sends.add(send);
  }

  /** Waits until no attempt is running, for `maxMs` at most: steps end before their attempts do. */
  async settled(maxMs: number): Promise<void> {
    await withTimeout(this.#allSent(), maxMs, () => undefined);
  }

  /** Lets running attempts end for a moment, and releases the other claims. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    for (const delivery of this.#queues.takeWaiting()) this.#release(delivery, 0);
    const timer = setTimeout(() => this.#giveUp.abort(), GRACE_MS);
    await this.#allSent();
    clearTimeout(timer);
  }

  async #allSent(): Promise<void> {
    while (this.#sends.size > 0) await Promise.all(this.#sends);
  }
}

/** Without the path of the address, which may hold a secret. */
function attemptAttributes({ id, url, event, attempts, taskId }: ClaimedDelivery) {
  return {
    "http.request.method": "POST",
    "server.address": new URL(url).hostname,
    "tollgate.delivery.id": id,
    "tollgate.event.type": event.type,
    "tollgate.delivery.attempt": attempts + 1,
    ...(taskId === null ? {} : { "tollgate.task.id": taskId }),
  };
}

function endAttemptSpan(span: Span, { status }: AttemptResult): void {
  if (status !== null) span.set({ "http.response.status_code": status });
  if (status === null || status >= 300) span.fail(status === null ? "unreachable" : String(status));
  span.end();
}

export function deliveryWorker(deps: SenderDeps): Sender {
  return new Sender(deps);
}
