import { ResponseStore } from "../domain/responses/response_store.ts";
import { openSecretBox } from "../domain/webhooks/secret_box.ts";
import { openReasoningBox } from "../http/dialects/responses/reasoning_box.ts";
import type { ResponsesDeps } from "../http/endpoints/responses.ts";
import { periodic } from "../lib/timers.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { maintainPartitions, type PartitionedTable } from "../platform/database/partitions.ts";
import { isStorageUnavailable } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { ThinkingSeals } from "../upstream/thinking_seals.ts";
import type { Settings } from "./environment.ts";

interface Deps {
  database: Database;
  configStore: ConfigStore;
  seals: ThinkingSeals;
  log: Log;
}

const RESPONSE_TABLE: PartitionedTable = {
  table: "response",
  column: "created_at",
  every: "day",
  ahead: 2,
};
const MAINTAIN_MS = 60_000;
const DAY_MS = 86_400_000;

/** Stored responses, and the loop that creates their partitions and drops those that are over their time. */
export function openResponses(
  { database: { sql }, configStore, seals, log }: Deps,
  { secretsKey }: Pick<Settings, "secretsKey">,
): ResponsesDeps & AsyncDisposable {
  const store = new ResponseStore(sql, openSecretBox(secretsKey, "stored responses"));
  const maintaining = periodic(async () => {
    // By the clock of the database: that of a node may be wrong, and what is dropped is gone.
    const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
    const keepSince = new Date(now.getTime() - configStore.current.responses.keepDays * DAY_MS);
    const { dropped } = await maintainPartitions(sql, RESPONSE_TABLE, { keepSince, now });
    if (dropped.length > 0) log.info("stored responses dropped", { partitions: dropped });
  }, {
    intervalMs: MAINTAIN_MS,
    onError(error) {
      // An outage is reported by the readiness probe, and the next round makes up for a lock that was not free.
      if (!isStorageUnavailable(error)) log.error("response maintenance failed", { error });
    },
  });
  return {
    responses: { store, box: openReasoningBox(seals), log },
    [Symbol.asyncDispose]: () => maintaining[Symbol.asyncDispose](),
  };
}
