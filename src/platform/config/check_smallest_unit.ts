import { formatDecimal, parseDecimal, SCALE } from "../../lib/money.ts";
import { blockOf, type Checker } from "./checker.ts";
import type { Declaration } from "./gateway_file.ts";
import type { Path } from "./faults.ts";
import { UNIT_SIZES, unitFamily } from "./model_type_specs.ts";

/** The least that can be charged, in units of 10⁻¹². */
export type SmallestUnit = bigint;

const DEFAULT_SCALE = 6;

export function smallestUnitOf(declared: Partial<Declaration>): SmallestUnit {
  const { currency_scale: scale } = blockOf(declared.service);
  const isScale = Number.isInteger(scale) && Number(scale) >= 0 && Number(scale) <= SCALE;
  return 10n ** BigInt(SCALE - (isScale ? Number(scale) : DEFAULT_SCALE));
}

/** A small but usual request: how much of what a price counts, and in which words. */
const USUAL: Readonly<Record<string, { pieces: bigint; words: string }>> = {
  tokens: { pieces: 1_000n, words: "1,000 tokens" },
  characters: { pieces: 1_000n, words: "1,000 characters" },
  second: { pieces: 1n, words: "one second" },
};

/** Such charges are not lost, but they show up only once several have added up. */
export function warnBelowSmallestUnit(
  checker: Checker,
  at: Path,
  entry: Record<string, unknown>,
  smallest: SmallestUnit,
): void {
  const { unit } = entry;
  if (typeof unit !== "string" || !Object.hasOwn(UNIT_SIZES, unit)) return;
  if ((amountOf(entry.minimum_charge) ?? 0n) >= smallest) return;
  const { pieces, words } = USUAL[unitFamily(unit)] ?? { pieces: 1n, words: `one ${unit}` };
  const verb = pieces === 1n ? "costs" : "cost";
  const least = formatDecimal(smallest, 0);
  for (const key of ["price", "input_price"]) {
    const amount = amountOf(entry[key]);
    if (amount === null || amount === 0n) continue;
    if (amount * pieces >= smallest * UNIT_SIZES[unit]!) continue;
    checker.report([...at, key], {
      severity: "warning",
      message: `${words} ${verb} less than ${least}, the smallest amount that is charged`,
      suggestion:
        "Such charges add up until they reach it. Declare a larger service.currency_scale " +
        "to charge them one by one, or a minimum_charge.",
    });
  }
}

function amountOf(value: unknown): bigint | null {
  return typeof value === "string" ? parseDecimal(value) : null;
}
