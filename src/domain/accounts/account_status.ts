import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";

export const ACCOUNT_STATUSES = ["active", "suspended", "closed"] as const;
/** A closed account stays closed. */
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** What every request and page of an account that is not active gets. */
export function accountSuspended(): ApiError {
  return new ApiError(
    "account_suspended",
    "This account is suspended or closed. Contact the operator of this service.",
  );
}

/** Throws unless the account is active: for requests that name it by something else than a key. */
export async function requireActive(sql: Queries, account: string): Promise<void> {
  const [row] = await sql`
    select from account where id = ${account} and suspended_at is null and closed_at is null`;
  if (row === undefined) throw accountSuspended();
}
