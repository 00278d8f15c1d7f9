import { formatDecimal, parseDecimal } from "../../lib/money.ts";
import type { Description } from "./describe.ts";

/** One difference between two configurations. */
export interface ConfigChange {
  kind: "added" | "removed" | "changed";
  /** Such as `models.sim-chat.limits.max_output_tokens`. */
  path: string;
  from?: unknown;
  to?: unknown;
  /** For amounts: the change, such as `+12.5 %`. */
  percent?: string;
  /** For amounts: the change per unit, such as `+0.02 per 1M tokens`. */
  per_unit?: string;
}

type Keys = Record<string, unknown>;

/** Changes of these keys are shown with a percentage; prices are per unit. */
const AMOUNT = /\.(\w+_)?price$|\.minimum_charge$/;
const CHARGE = /\.minimum_charge$/;

/** The differences between two configurations. The version is left out. */
export function diffConfigs(from: Description, to: Description): ConfigChange[] {
  const { version: _a, ...before } = from;
  const { version: _b, ...after } = to;
  const changes: ConfigChange[] = [];
  compare("", before, after, changes);
  return changes;
}

function compare(path: string, from: unknown, to: unknown, changes: ConfigChange[]): void {
  if (isKeys(from) && isKeys(to)) {
    const first = changes.length;
    compareKeys(path, from, to, changes);
    if (typeof from.unit === "string" && typeof to.unit === "string") {
      addUnits(path, changes.slice(first), from.unit, to.unit);
    }
    return;
  }
  if (JSON.stringify(from) === JSON.stringify(to)) return;
  if (comparePriceLists(path, from, to, changes) || compareItems(path, from, to, changes)) return;
  changes.push({ kind: "changed", path, from, to });
}

function compareKeys(path: string, from: Keys, to: Keys, changes: ConfigChange[]): void {
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!Object.hasOwn(from, key)) changes.push({ kind: "added", path: inner, to: to[key] });
    else if (!Object.hasOwn(to, key)) {
      changes.push({ kind: "removed", path: inner, from: from[key] });
    } else compare(inner, from[key], to[key], changes);
  }
}

/** Adds to changed amounts of a block by how much they moved, as long as the units can be compared. */
function addUnits(
  path: string,
  changes: readonly ConfigChange[],
  before: string,
  after: string,
): void {
  const [from, to] = [unitOf(before), unitOf(after)];
  for (const change of changes) {
    const isAmount = AMOUNT.test(change.path) && change.path.lastIndexOf(".") === path.length;
    if (!isAmount) continue;
    if (CHARGE.test(change.path)) Object.assign(change, { percent: moved(change).percent });
    else if (from.of === to.of) Object.assign(change, moved(change, from.size, to.size, after));
  }
}

/** `1M tokens` is a million times `tokens`. */
function unitOf(unit: string): { size: bigint; of: string } {
  const [, size, of] = /^1(K|M)? ?(.*)$/.exec(unit) ?? [];
  if (of === undefined) return { size: 1n, of: unit };
  return { size: size === "M" ? 1_000_000n : size === "K" ? 1_000n : 1n, of };
}

/**
 * The change of an amount in percent, rounded to a tenth, and per unit; nothing for what is no amount. `size` is how
 * many things the amount was for before, `nextSize` how many it is for now.
 */
function moved(
  { from, to }: ConfigChange,
  size = 1n,
  nextSize = 1n,
  unit = "",
): Pick<ConfigChange, "percent" | "per_unit"> {
  if (typeof from !== "string" || typeof to !== "string") return {};
  const [a, b] = [parseDecimal(from), parseDecimal(to)];
  if (a === null || b === null) return {};
  // Exact: both amounts for as many things as both units together.
  const [before, after] = [a * nextSize, b * size];
  const sign = after >= before ? "+" : "-";
  const difference = after >= before ? after - before : before - after;
  const perUnit = `${sign}${formatDecimal(difference / size)} per ${unit}`;
  if (before === 0n) return { per_unit: perUnit };
  const digits = ((difference * 2000n + before) / (2n * before)).toString().padStart(2, "0");
  return { percent: `${sign}${digits.slice(0, -1)}.${digits.slice(-1)} %`, per_unit: perUnit };
}

/** Compares prices of one model that start at the same time, amount by amount. */
function comparePriceLists(
  path: string,
  from: unknown,
  to: unknown,
  changes: ConfigChange[],
): boolean {
  if (!path.startsWith("prices.") || !Array.isArray(from) || !Array.isArray(to)) return false;
  const byStart = (prices: Keys[]): Keys =>
    Object.fromEntries(
      prices.map(({ effective_at, ...rest }) => [`${rest.book}@${effective_at}`, rest]),
    );
  if (from.length === 1 && to.length === 1) compare(path, from[0], to[0], changes);
  else compare(path, byStart(from as Keys[]), byStart(to as Keys[]), changes);
  return true;
}

/** Compares blocks in a list, such as upstreams, by their position. */
function compareItems(path: string, from: unknown, to: unknown, changes: ConfigChange[]): boolean {
  if (!Array.isArray(from) || !Array.isArray(to)) return false;
  if (![...from, ...to].every(isKeys)) return false;
  for (let index = 0; index < Math.max(from.length, to.length); index++) {
    const inner = `${path}[${index}]`;
    if (index >= from.length) changes.push({ kind: "added", path: inner, to: to[index] });
    else if (index >= to.length) changes.push({ kind: "removed", path: inner, from: from[index] });
    else compare(inner, from[index], to[index], changes);
  }
  return true;
}

function isKeys(value: unknown): value is Keys {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One line per change: + added, - removed, ~ changed. */
export function renderChanges(
  changes: readonly ConfigChange[],
  options: { colors?: boolean } = {},
): string {
  const paint = (code: number, text: string) =>
    options.colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  return changes.map((change) => {
    if (change.kind === "added") return paint(32, `+ ${change.path}${summary(change.to)}`);
    if (change.kind === "removed") return paint(31, `- ${change.path}${summary(change.from)}`);
    const by = [change.percent, change.per_unit].filter((text) => text !== undefined).join(", ");
    return paint(
      33,
      `~ ${change.path}: ${short(change.from)} → ${short(change.to)}${
        by === "" ? "" : `  (${by})`
      }`,
    );
  }).join("\n");
}

/** Shows a model by its type and a price by its amounts, not by all keys. */
function summary(value: unknown): string {
  const [only] = Array.isArray(value) && value.length === 1 ? value : [value];
  if (!isKeys(only)) return value === undefined ? "" : `: ${short(value)}`;
  if (only.billing_type !== undefined) return `  (${amountsOf(only)})`;
  const label = only.type ?? only.adapter ?? only.operation ?? only.provider ?? only.name;
  return typeof label === "string" ? `  (${label})` : "";
}

function amountsOf(price: Keys): string {
  const amounts = Object.entries(price).filter(([key]) => AMOUNT.test(`.${key}`));
  return `${amounts.map(([key, amount]) => `${key} ${amount}`).join(", ")} per ${price.unit}`;
}

function short(value: unknown): string {
  const text = value === null ? "not set" : JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
