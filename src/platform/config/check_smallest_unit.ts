import { formatDecimal, SCALE } from "../../lib/money.ts";
import { blockOf, type Checker } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import { amountOf } from "./price_blocks.ts";
import { unitOf } from "../../model_types/units.ts";

/** The smallest amount that can be charged, in units of 10⁻¹². */
export type SmallestUnit = bigint;

const DEFAULT_SCALE = 6;

export function smallestUnitOf(file: Partial<GatewayFile>): SmallestUnit {
  const { currency_scale: scale } = blockOf(file.service);
  const isScale = Number.isInteger(scale) && Number(scale) >= 0 && Number(scale) <= SCALE;
  return 10n ** BigInt(SCALE - (isScale ? Number(scale) : DEFAULT_SCALE));
}

/** A small but typical request, by unit family: the quantity, and its name in the message. */
const TYPICAL: Readonly<Record<string, { quantity: bigint; name: string }>> = {
  tokens: { quantity: 1_000n, name: "1,000 tokens" },
  characters: { quantity: 1_000n, name: "1,000 characters" },
  second: { quantity: 1n, name: "one second" },
};

/** Such charges are not lost: they are booked once several of them have added up. */
export function warnBelowSmallestUnit(
  checker: Checker,
  at: Path,
  entry: Record<string, unknown>,
  smallest: SmallestUnit,
): void {
  const unit = unitOf(entry.unit);
  if (unit === null) return;
  if ((amountOf(entry.minimum_charge) ?? 0n) >= smallest) return;
  const { quantity, name } = TYPICAL[unit.family] ?? { quantity: 1n, name: `one ${entry.unit}` };
  const verb = quantity === 1n ? "costs" : "cost";
  const least = formatDecimal(smallest, 0);
  for (const key of ["price", "input_price"]) {
    const amount = amountOf(entry[key]);
    if (amount === null || amount === 0n) continue;
    if (amount * quantity >= smallest * unit.size) continue;
    checker.report([...at, key], {
      severity: "warning",
      message: `${name} ${verb} less than ${least}, the smallest amount that can be charged`,
      suggestion: "Such charges add up until they reach it. Set a larger service.currency_scale " +
        "to charge each of them, or a minimum_charge.",
    });
  }
}
