import { GroupCommit } from "../../lib/group_commit.ts";
import { sleep } from "../../lib/timers.ts";
import { isStorageUnavailable } from "../../platform/database/storage_error.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { endDeliveriesOf } from "./endpoints.ts";
import { type AttemptRecord, recordAttempts } from "./record_attempts.ts";
import type { SenderDeps } from "./sender.ts";

const TRIES_MAX = 5;

/** Records the outcomes of claimed deliveries, many in one statement. */
export class AttemptRecorder {
  readonly #records: GroupCommit<AttemptRecord, void>;

  constructor(
    private readonly deps: Pick<SenderDeps, "sql" | "config" | "log">,
    itemsMax: number,
  ) {
    this.#records = new GroupCommit({ run: (records) => this.#write(records), itemsMax });
  }

  /** Retries while the database is unavailable. After the last try the lease expires and the attempt is repeated. */
  async record(record: AttemptRecord): Promise<void> {
    for (let tried = 1;; tried++) {
      try {
        await this.#records.add(record);
        return;
      } catch (error) {
        if (tried < TRIES_MAX && isStorageUnavailable(error)) {
          await sleep(100 * 2 ** tried);
          continue;
        }
        const fields = { delivery: record.id, outcome: record.outcome, error };
        return this.deps.log.error("webhook attempt not recorded, it will be repeated", fields);
      }
    }
  }

  async #write(records: readonly AttemptRecord[]): Promise<void[]> {
    const { sql, config, log } = this.deps;
    const disabled = await recordAttempts(sql, records, config().webhooks.disableAfterDays);
    for (const { id, disabled_reason } of disabled) {
      log.warn("webhook endpoint disabled", { endpoint: id, reason: disabled_reason });
    }
    if (disabled.length > 0) {
      await endDeliveriesOf(sql, disabled.map(({ id }) => id), "endpoint_disabled");
    }
    return [];
  }
}

/** No attempt was made: the delivery can be claimed again after `waitMs`. */
export function releasedClaim({ id, fence }: ClaimedDelivery, waitMs: number): AttemptRecord {
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
