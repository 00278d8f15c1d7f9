import { formatMoney, type MoneyFormat } from "./format.ts";

/** Longer amounts are set smaller where they would stand in large type. */
const LONG_CHARACTERS = 12;

/** An amount of money. It never breaks across lines. */
export function Money(
  { amount, currency, sign = false }: {
    amount: string;
    currency: MoneyFormat;
    /** Writes a plus before what came in. */
    sign?: boolean;
  },
) {
  const text = formatMoney(amount, currency);
  const isLong = text.length > LONG_CHARACTERS;
  return (
    <span class={isLong ? "money money-long" : "money"}>
      {sign && !text.startsWith("-") && "+"}
      {text}
    </span>
  );
}
