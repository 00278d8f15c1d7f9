import { newId } from "../../lib/ids.ts";
import { parseDecimal, SCALE } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { ReservedRetry } from "./retry_reserved.ts";

export interface Credit {
  account: string;
  kind: "cash" | "gift";
  /** A decimal string above zero. */
  amount: string;
  /** The operator's own id of the booking: the same reference books once. */
  reference: string;
  /** For promotional credits only. */
  expiresAt?: Date | undefined;
}

/** Books money into an account. */
export async function addCredit(sql: Queries, credit: Credit): Promise<{ isFirst: boolean }> {
  const { account, kind, amount, reference, expiresAt } = credit;
  const value = parseDecimal(amount);
  if (value === null || value <= 0n) {
    throw new ApiError("invalid_value", "amount must be a decimal string above zero.", {
      param: "amount",
    });
  }
  if (kind === "cash" && expiresAt !== undefined) {
    throw new ApiError("invalid_value", "Only gifts expire.", { param: "expires_at" });
  }
  const [row] = await sql<[{ outcome: string }]>`
    select outcome from ledger_credit(${account}, ${reference}, ${kind}, ${amount}::numeric,
      ${"gift:" + newId("grant")}, ${expiresAt ?? null})`.catch(refuseOverflow);
  switch (row.outcome) {
    case "booked":
    case "already":
      return { isFirst: row.outcome === "booked" };
    case "conflict":
      throw new ApiError("invalid_value", "This reference was used for another credit.", {
        param: "reference",
      });
    case "past":
      throw new ApiError("invalid_value", "expires_at must lie in the future.", {
        param: "expires_at",
      });
    default:
      throw unknownAccount(account);
  }
}

export interface Adjustment {
  account: string;
  /** A decimal string, negative to take away. */
  amount: string;
  reference: string;
  reason: string;
}

/** A correction has a reason, and nothing else has one. */
export function checkReason(kind: Credit["kind"] | "correction", reason: string | undefined): void {
  if (kind === "correction" && reason === undefined) {
    throw new ApiError("missing_field", "The field reason is missing: a correction needs one.", {
      param: "reason",
    });
  }
  if (kind !== "correction" && reason !== undefined) {
    throw new ApiError("invalid_value", "Only corrections have a reason.", { param: "reason" });
  }
}

/** Corrects an account's cash. It cannot take what is frozen. */
export async function adjustBalance(
  sql: Queries,
  adjustment: Adjustment,
): Promise<{ isFirst: boolean }> {
  const { account } = adjustment;
  const adjusted = await new ReservedRetry(sql).run(account, () => tryAdjust(sql, adjustment));
  return readAdjusted(adjusted, account);
}

/** The result of an attempt; see `ReservedRetry`. */
export interface Adjusted {
  readonly outcome: string;
  readonly retry_ms: number | null;
}

/** One attempt to correct an account's cash: for a transaction, which must end before what is reserved can be returned. */
export async function tryAdjust(sql: Queries, adjustment: Adjustment): Promise<Adjusted> {
  const { account, amount, reference, reason } = adjustment;
  const value = parseDecimal(amount);
  if (value === null || value === 0n) {
    throw new ApiError("invalid_value", "amount must be a decimal string other than zero.", {
      param: "amount",
    });
  }
  const [row] = await sql<[Adjusted]>`
    select outcome, case outcome when 'insufficient' then ledger_recall_for(
             ${account}, ledger_now(), null, -${amount}::numeric, 1, 0, ${SCALE}, 0,
             (select remaining - frozen from balance_bucket where id = 'cash:' || ${account})) end as retry_ms
      from ledger_adjust(${account}, ${reference}, ${amount}::numeric, ${reason}) as outcome`
    .catch(refuseOverflow);
  return row;
}

/** Throws unless it is booked, now or before. */
export function readAdjusted({ outcome }: Adjusted, account: string): { isFirst: boolean } {
  switch (outcome) {
    case "booked":
    case "already":
      return { isFirst: outcome === "booked" };
    case "conflict":
      throw new ApiError("invalid_value", "This reference was used for another adjustment.", {
        param: "reference",
      });
    case "insufficient":
      throw new ApiError("insufficient_balance", "The account's free cash is less than that.", {
        param: "amount",
      });
    default:
      throw unknownAccount(account);
  }
}

export function unknownAccount(account: string): ApiError {
  return new ApiError("not_found", `There is no account ${JSON.stringify(account)}.`);
}

const NUMERIC_OVERFLOW = "22003";

function refuseOverflow(error: { code?: string }): never {
  if (error.code !== NUMERIC_OVERFLOW) throw error;
  throw new ApiError("invalid_value", "The account would have more than 20 digits of money.", {
    param: "amount",
    cause: error,
  });
}
