import type { Receipt } from "../../domain/ledger/receipt.ts";
import { Badge } from "../parts.tsx";
import { formatCount, money } from "./format.ts";

const STATES: Record<Receipt["status"], ["good" | "warn" | "bad" | "info" | undefined, string]> = {
  settled: ["good", "paid"],
  open: ["info", "running"],
  released: [undefined, "released"],
  expired: ["warn", "expired"],
};

export function ReceiptState({ status }: Pick<Receipt, "status">) {
  const [kind, text] = STATES[status];
  return <Badge kind={kind}>{text}</Badge>;
}

/** What was taken: of quotas, of money, or both. */
export function Charged({ receipt, currency }: { receipt: Receipt; currency: string }) {
  const { quota } = receipt.from;
  const isFree = quota > 0 && /^0(\.0*)?$/.test(receipt.settled);
  return (
    <span>
      {quota > 0 && <span class="faint">{formatCount(quota)} of quota</span>}
      {quota > 0 && !isFree && ", "}
      {!isFree && money(receipt.settled, currency)}
    </span>
  );
}
