import { trimDecimal } from "../../lib/money.ts";
import { formatCount } from "../format.ts";
import { readableName } from "../readable_name.ts";

/** What was used of each kind, such as "12 input tokens" and "1 image"; without what was not used. */
export function quantityTexts(quantities: Readonly<Record<string, number | string>>): string[] {
  return Object.entries(quantities).filter(([, value]) => Number(value) > 0)
    .map(([name, value]) => {
      const amount = typeof value === "number" ? formatCount(value) : trimDecimal(value, 0);
      const unit = readableName(name).toLowerCase();
      return `${amount} ${amount === "1" ? unit.replace(/s$/, "") : unit}`;
    });
}
