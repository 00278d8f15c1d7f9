import { holdItem, type HoldRequest, readHeld } from "../../src/domain/ledger/hold.ts";
import { runItem, runLate } from "../../src/domain/ledger/item.ts";
import { releaseItem } from "../../src/domain/ledger/release.ts";
import { readResolution, type Resolution, settleItem } from "../../src/domain/ledger/settle.ts";
import type { Charge } from "../../src/domain/pricing/quote.ts";
import type { Queries } from "../../src/platform/database/database.ts";

const MONEY = { currency: "EUR", currencyScale: 6 };

/** Holds in a transaction of the test, as statements that book more than money do. */
export async function holdIn(sql: Queries, request: HoldRequest): Promise<{ id: string }> {
  readHeld(request, await runItem(sql, holdItem(request, MONEY.currencyScale)), MONEY);
  return { id: request.id };
}

export async function settleIn(sql: Queries, id: string, charge: Charge): Promise<Resolution> {
  const item = settleItem(id, charge);
  const resolution = readResolution(await runItem(sql, item));
  return resolution.isFirst ? resolution : readResolution(await runLate(sql, item));
}

export async function releaseIn(sql: Queries, id: string): Promise<Resolution> {
  return readResolution(await runItem(sql, releaseItem(id)));
}
