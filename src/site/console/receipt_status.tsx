import type { Receipt } from "../../domain/ledger/receipt.ts";
import { formatCount, isZero, type MoneyFormat } from "../format.ts";
import { Money } from "../money.tsx";
import { Badge } from "../parts.tsx";

const STATUS: Record<Receipt["status"], ["good" | "warn" | "bad" | "info" | undefined, string]> = {
  settled: ["good", "Charged"],
  open: ["info", "Running"],
  released: [undefined, "Failed, not charged"],
  expired: ["warn", "Expired"],
};

export function ReceiptStatus({ status }: Pick<Receipt, "status">) {
  const [kind, text] = STATUS[status];
  return <Badge kind={kind}>{text}</Badge>;
}

/** Whether a request took neither money nor quota. Not known while it runs. */
export function isFree({ status, settled, from }: Receipt): boolean {
  return status !== "open" && isZero(settled) && from.quota === 0;
}

/** What was charged: quota, money, or both. */
export function Charged({ receipt, currency }: { receipt: Receipt; currency: MoneyFormat }) {
  const { quota } = receipt.from;
  const hasMoney = quota === 0 || !isZero(receipt.settled);
  return (
    <span>
      {quota > 0 && <span class="faint nowrap">{quotaText(receipt)}</span>}
      {quota > 0 && hasMoney && ", "}
      {hasMoney && <Money amount={receipt.settled} currency={currency} />}
    </span>
  );
}

/** `10 s from quota`: in the unit that the usage was counted in. */
export function quotaText({ from, usage }: Pick<Receipt, "from" | "usage">): string {
  const unit = usage?.images !== undefined
    ? from.quota === 1 ? " image" : " images"
    : usage?.seconds !== undefined
    ? " s"
    : usage?.input_tokens !== undefined
    ? " tokens"
    : "";
  return `${formatCount(from.quota)}${unit} from quota`;
}
