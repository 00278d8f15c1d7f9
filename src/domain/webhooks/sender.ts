import { GroupCommit } from "../../lib/group_commit.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown, isStorageUnavailable } from "../../platform/database/storage_error.ts";
import { attemptDelivery, type AttemptResult, type WebhookPost } from "./attempt.ts";
import { claimDeliveries, type ClaimedDelivery, dueDeliveries } from "./claim.ts";
import { DELIVERY, type DeliveryMessage } from "./enqueue_event.ts";
import { endDeliveriesOf } from "./endpoints.ts";
import type { EventData } from "./event.ts";
import { decideRetry } from "./decide_retry.ts";
import {
  type Destination,
  DESTINATION_SLOTS,
  DestinationQueues,
  WAIT_MS_MAX,
} from "./destination_queues.ts";
import { type AttemptRecord, recordAttempts } from "./record_attempts.ts";
import type { SecretBox } from "./secret_box.ts";
import { revealSecret } from "./secrets.ts";
import { sleep, withTimeout } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface SenderDeps {
  sql: Queries;
  secretBox: SecretBox;
  post: WebhookPost;
  /** The declaration in force: retries, timeout, when an endpoint is disabled. */
  plan: () => Pick<Config, "webhooks" | "storage">;
  /** A task's outputs with fresh addresses. */
  renewOutput: (output: readonly unknown[]) => readonly unknown[];
  /** Wakes the worker for a retry that is near; the queue's sweeper finds the others. */
  ring: (message: DeliveryMessage, delayMs: number) => void;
  onAttempt?: (outcome: AttemptRecord["outcome"], latencyMs: number) => void;
  log: Pick<Log, "info" | "warn" | "error">;
}

/** What the queue needs of us; written here because the queue is a neighbour. */
export interface DeliveryWorker extends AsyncDisposable {
  readonly slots: number;
  step(id: string, signal: AbortSignal): Promise<"done" | { readonly againInMs: number }>;
  due(limit: number): Promise<readonly string[]>;
}

/** Steps at once: a step is a share of a statement, the sending is the lanes'. */
const STEPS = 256;
/** More do not make a statement cheaper per item, only longer for whoever waits behind it. */
const BATCH_MAX = 256;
/** What a lease allows for beyond waiting and sending. */
const LEASE_MARGIN_MS = 15_000;
/** Retries further away are left to the sweeper. */
const RING_MS_MAX = 60_000;
/** How long attempts under way may take to end when the gateway stops; then they are handed back. */
const GRACE_MS = 3_000;
const NOTE_TRIES = 5;

/**
 * Sends events. A step claims a delivery and puts it into its receiver's lane, so that a receiver that
 * hangs never holds the queue; from there on the lane's slots decide.
 */
export class Sender implements DeliveryWorker {
  readonly slots = STEPS;
  readonly #queues = new DestinationQueues();
  readonly #claims: GroupCommit<string, ClaimedDelivery | null>;
  readonly #notes: GroupCommit<AttemptRecord, void>;
  readonly #flights = new Set<Promise<void>>();
  readonly #giveUp = new AbortController();
  #isClosing = false;

  constructor(private readonly deps: SenderDeps) {
    this.#claims = new GroupCommit({ run: (ids) => this.#claim(ids), itemsMax: BATCH_MAX });
    this.#notes = new GroupCommit({ run: (notes) => this.#note(notes), itemsMax: BATCH_MAX });
  }

  /** Attempts under way. */
  get sending(): number {
    return this.#queues.sending;
  }

  async step(id: string): Promise<"done"> {
    // Left to another node, or to the next start.
    if (this.#isClosing) return "done";
    const delivery = await this.#claims.add(id);
    if (delivery !== null) this.#accept([delivery]);
    return "done";
  }

  due(limit: number): Promise<readonly string[]> {
    return dueDeliveries(this.deps.sql, limit, this.#queues.blocked(), 2 * DESTINATION_SLOTS);
  }

  /** To be called now and then. */
  forgetOld(): void {
    this.#queues.forgetOld();
  }

  async #claim(ids: readonly string[]): Promise<(ClaimedDelivery | null)[]> {
    const wanted = { ids, notOf: this.#queues.blocked() };
    const claimed = await claimDeliveries(this.deps.sql, wanted, this.#leaseSeconds());
    const byId = new Map(claimed.map((delivery) => [delivery.id, delivery]));
    return ids.map((id) => {
      const delivery = byId.get(id) ?? null;
      // The same message may have come twice.
      byId.delete(id);
      return delivery;
    });
  }

  #leaseSeconds(): number {
    const { timeoutSeconds } = this.deps.plan().webhooks;
    return timeoutSeconds + (WAIT_MS_MAX + LEASE_MARGIN_MS) / 1000;
  }

  #accept(claimed: readonly ClaimedDelivery[]): void {
    const { retrySeconds } = this.deps.plan().webhooks;
    for (const delivery of claimed) {
      const early = retrySeconds[0]! - delivery.ageSeconds;
      if (this.#isClosing) this.#handBack(delivery, 0);
      else if (delivery.off !== null) this.#end(delivery, delivery.off);
      else if (delivery.attempts === 0 && early > 0) this.#handBack(delivery, early * 1000);
      else this.#queues.lane(delivery.destination).waiting.push(delivery);
    }
    for (const name of new Set(claimed.map(({ destination }) => destination))) {
      this.#pump(this.#queues.lane(name));
    }
  }

  #pump(lane: Destination): void {
    for (const turn of this.#queues.turns(lane)) {
      if (turn.kind === "send") this.#track(this.#send(lane, turn.delivery));
      // Spread over a second, so that they do not all wake at once.
      else {this.#handBack(
          turn.delivery,
          turn.waitMs + (turn.waitMs > 0 ? Math.random() * 1000 : 0),
        );}
    }
    const more = this.#isClosing ? 0 : this.#queues.appetite(lane);
    if (more > 0) this.#track(this.#fetchMore(lane, more));
    else this.#queues.forget(lane);
  }

  async #fetchMore(lane: Destination, limit: number): Promise<void> {
    lane.isClaiming = true;
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await claimDeliveries(
        this.deps.sql,
        { destination: lane.name, limit },
        this.#leaseSeconds(),
      );
    } catch (error) {
      if (!isStorageDown(error)) this.deps.log.error("cannot claim deliveries", { error });
    }
    lane.isClaiming = false;
    // After a failure too: the sweeper will say when there is something again.
    lane.mayHaveMore = claimed.length === limit;
    this.#accept(claimed);
    this.#queues.forget(lane);
  }

  async #send(lane: Destination, delivery: ClaimedDelivery): Promise<void> {
    let seen: AttemptResult | null = null;
    try {
      seen = await this.#attempt(delivery);
    } catch (error) {
      this.deps.log.error("cannot send an event", { delivery: delivery.id, error });
    }
    const isGivenUp = this.#giveUp.signal.aborted && seen?.status == null;
    const reached = seen === null || isGivenUp ? null : seen.status !== null;
    for (const next of this.#queues.ended(lane, reached)) this.#pump(next);
    if (seen === null || isGivenUp) return await this.#keep(back(delivery, isGivenUp ? 0 : 60_000));

    const verdict = decideRetry(delivery, seen, this.deps.plan().webhooks.retrySeconds);
    const waitMs = verdict.outcome === "retry" ? verdict.waitMs : 0;
    await this.#keep({
      id: delivery.id,
      fence: delivery.fence,
      outcome: verdict.outcome,
      reason: verdict.outcome === "failed" ? verdict.reason : null,
      wait_ms: waitMs,
      status: seen.status,
      error: seen.error,
      response: seen.response,
      latency_ms: seen.latencyMs,
      attempted: true,
    });
    this.deps.onAttempt?.(verdict.outcome, seen.latencyMs);
    if (verdict.outcome === "retry" && waitMs <= RING_MS_MAX) this.#ring(delivery.id, waitMs);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<AttemptResult> {
    const { sql, secretBox, plan, post } = this.deps;
    const owner = { account: delivery.account, endpoint: delivery.endpoint };
    const secrets = delivery.secrets.length === 0
      ? [(await revealSecret(sql, secretBox, owner)).secret]
      : delivery.secrets.map(({ id, secret }) => secretBox.open(secret, id));
    return await attemptDelivery(post, { url: delivery.url, event: this.#renewed(delivery) }, {
      secrets,
      timeoutMs: plan().webhooks.timeoutSeconds * 1000,
      signal: this.#giveUp.signal,
    });
  }

  /** The event as stored, unless the addresses in it have less than half of their time left. */
  #renewed({ event, taskId, ageSeconds }: ClaimedDelivery): ClaimedDelivery["event"] {
    const { plan, renewOutput } = this.deps;
    if (taskId === null || ageSeconds < plan().storage.outputs.urlHours * 1800) return event;
    const stored = JSON.parse(event.data) as EventData;
    if (stored.output.length === 0) return event;
    const data = { ...stored, output: renewOutput(stored.output) };
    return { ...event, data: JSON.stringify(data) };
  }

  #end(delivery: ClaimedDelivery, reason: NonNullable<ClaimedDelivery["off"]>): void {
    this.#track(this.#keep({ ...back(delivery, 0), outcome: "failed", reason }));
  }

  #handBack(delivery: ClaimedDelivery, waitMs: number): void {
    this.#track(this.#keep(back(delivery, waitMs)));
  }

  /** Writes a note down. While the database is away it is tried again; after that the lease runs out. */
  async #keep(note: AttemptRecord): Promise<void> {
    for (let tried = 1;; tried++) {
      try {
        await this.#notes.add(note);
        return;
      } catch (error) {
        if (tried < NOTE_TRIES && isStorageUnavailable(error)) {
          await sleep(100 * 2 ** tried);
          continue;
        }
        const fields = { delivery: note.id, outcome: note.outcome, error };
        return this.deps.log.error("cannot note a delivery: it will be repeated", fields);
      }
    }
  }

  async #note(notes: readonly AttemptRecord[]): Promise<void[]> {
    const { sql, plan, log } = this.deps;
    const disabled = await recordAttempts(sql, notes, plan().webhooks.disableAfterDays);
    for (const { id, disabled_reason } of disabled) {
      log.warn("a webhook endpoint was disabled", { endpoint: id, reason: disabled_reason });
    }
    if (disabled.length > 0) {
      await endDeliveriesOf(sql, disabled.map(({ id }) => id), "endpoint_disabled");
    }
    return [];
  }

  #ring(id: string, delayMs: number): void {
    if (!this.#isClosing) this.deps.ring({ kind: DELIVERY, id }, delayMs);
  }

  #track(work: Promise<void>): void {
    const flight = work.finally(() => this.#flights.delete(flight));
    this.#flights.add(flight);
  }

  /** Waits until no attempt is under way, so long at the most: steps end before their attempts do. */
  async settled(patienceMs: number): Promise<void> {
    await withTimeout(this.#landed(), patienceMs, () => undefined);
  }

  /** Lets what is under way end, for a moment, and hands the rest back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    for (const delivery of this.#queues.takeWaiting()) this.#handBack(delivery, 0);
    const timer = setTimeout(() => this.#giveUp.abort(), GRACE_MS);
    await this.#landed();
    clearTimeout(timer);
  }

  async #landed(): Promise<void> {
    while (this.#flights.size > 0) await Promise.all(this.#flights);
  }
}

export function deliveryWorker(deps: SenderDeps): Sender {
  return new Sender(deps);
}

/** No attempt was made: somebody else may. */
function back({ id, fence }: ClaimedDelivery, waitMs: number): AttemptRecord {
  return {
    id,
    fence,
    outcome: "back",
    reason: null,
    wait_ms: waitMs,
    status: null,
    error: null,
    response: null,
    latency_ms: 0,
    attempted: false,
  };
}
