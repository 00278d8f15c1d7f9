import { decimal, formatDecimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { Reserve } from "./reserve.ts";
import type { Amounts } from "./reserve_demand.ts";
import type { ReserveTiming } from "./reserve_timing.ts";

/** A reserve to be renewed. */
export interface Renewal {
  readonly reserve: Reserve;
  /** Wanted in addition. */
  readonly wanted: Amounts;
  /** What stays of what is left. */
  readonly keep: Amounts;
}

/** An argument of `ledger_renew_reserves`. */
export interface RenewalRequest {
  n: number;
  id: string;
  account_id: string;
  node_id: string;
  renewal: number;
  is_new: boolean;
  is_closing: boolean;
  kind: string;
  money: string;
  units: string;
  worst_money: string;
  worst_units: string;
  lease_ms: number;
  allocations: string[];
  kept: string[];
  drawn: string[] | null;
}

/** A row of its result. */
export interface Renewed {
  n: number;
  outcome: "renewed" | "recalled" | "gone" | "late";
  allocations: string[];
  added: string[];
  ends_in_ms: (number | null)[];
}

const UNIT = decimal("1");

/** The request of a renewal. What is not kept is given up with it, whatever becomes of the request. */
export function writeRenewal(
  { reserve, wanted, keep }: Renewal,
  n: number,
  { nodeId, now, timing }: { nodeId: string; now: number; timing: ReserveTiming },
): RenewalRequest {
  // What is needed elsewhere must be known exactly.
  const minAgeMs = reserve.isClosing ? reserve.hasToldAll ? null : 0 : timing.toldMs;
  const { allocations, kept, drawn } = reserve.tell({ keep, now, minAgeMs });
  const worst = reserve.demand.worst(now);
  return {
    n,
    id: reserve.id,
    account_id: reserve.account,
    node_id: nodeId,
    renewal: ++reserve.renewal,
    is_new: !reserve.isStored,
    is_closing: reserve.isClosing,
    kind: reserve.kind,
    money: formatDecimal(wanted.money),
    units: String(wanted.units / UNIT),
    worst_money: formatDecimal(worst.money),
    worst_units: String(worst.units / UNIT),
    lease_ms: timing.leaseMs,
    allocations,
    kept: kept.map((amount) => formatDecimal(amount)),
    drawn: drawn?.map((amount) => formatDecimal(amount)) ?? null,
  };
}

/**
 * Sends renewals in one statement. If it fails although the database is there, each is sent alone: one account that
 * cannot be renewed must not end the leases of the others. Calls `onError` with what could not be renewed.
 */
export async function sendRenewals(
  sql: Queries,
  requests: readonly RenewalRequest[],
  onError: (error: unknown) => void,
): Promise<Renewed[]> {
  try {
    return await sql<Renewed[]>`
      select * from ledger_renew_reserves(${JSON.stringify(requests)}::text::json)`;
  } catch (error) {
    if (requests.length === 1 || isStorageDown(error)) {
      onError(error);
      return [];
    }
  }
  const parts = requests.map((request) => sendRenewals(sql, [request], onError));
  return (await Promise.all(parts)).flat();
}
