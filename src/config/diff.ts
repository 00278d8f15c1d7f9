import { parseDecimal } from "../base/money.ts";
import type { Description } from "./describe.ts";

/** One difference between two declarations, in words an operator would use. */
export interface Change {
  kind: "added" | "removed" | "changed";
  /** Where, such as `models.sim-chat.limits.max_output_tokens`. */
  path: string;
  from?: unknown;
  to?: unknown;
  /** For amounts: how far they move, such as `+12.5 %`. */
  percent?: string;
}

type Keys = Record<string, unknown>;

/** What would change if `to` took the place of `from`. The version and derived keys are left out. */
export function diff(from: Description, to: Description): Change[] {
  const { version: _a, ...before } = from;
  const { version: _b, ...after } = to;
  const changes: Change[] = [];
  compare("", before, after, changes);
  return changes;
}

function compare(path: string, from: unknown, to: unknown, changes: Change[]): void {
  if (isKeys(from) && isKeys(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      const inner = path === "" ? key : `${path}.${key}`;
      if (!(key in from)) changes.push({ kind: "added", path: inner, to: to[key] });
      else if (!(key in to)) changes.push({ kind: "removed", path: inner, from: from[key] });
      else compare(inner, from[key], to[key], changes);
    }
    return;
  }
  if (comparePriceLists(path, from, to, changes)) return;
  if (JSON.stringify(from) === JSON.stringify(to)) return;
  const percent = percentOf(from, to);
  changes.push({ kind: "changed", path, from, to, ...(percent === null ? {} : { percent }) });
}

/** Prices of one model are a list by moment: compare the ones of the same moment, amount by amount. */
function comparePriceLists(path: string, from: unknown, to: unknown, changes: Change[]): boolean {
  if (!path.startsWith("prices.") || !Array.isArray(from) || !Array.isArray(to)) return false;
  const byMoment = (prices: Keys[]): Keys =>
    Object.fromEntries(
      prices.map(({ effective_at, ...rest }) => [`${rest.book}@${effective_at}`, rest]),
    );
  if (from.length === 1 && to.length === 1) compare(path, from[0], to[0], changes);
  else compare(path, byMoment(from as Keys[]), byMoment(to as Keys[]), changes);
  return true;
}

function isKeys(value: unknown): value is Keys {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How far an amount moves, to a tenth of a percent; exact until the last division. */
function percentOf(from: unknown, to: unknown): string | null {
  if (typeof from !== "string" || typeof to !== "string") return null;
  const [a, b] = [parseDecimal(from), parseDecimal(to)];
  if (a === null || b === null || a === 0n) return null;
  const tenths = (b - a) * 1000n / a;
  const digits = (tenths < 0n ? -tenths : tenths).toString().padStart(2, "0");
  return `${b >= a ? "+" : "-"}${digits.slice(0, -1)}.${digits.slice(-1)} %`;
}

/** One line per change: + added, - removed, ~ changed. */
export function renderChanges(
  changes: readonly Change[],
  options: { colors?: boolean } = {},
): string {
  const paint = (code: number, text: string) =>
    options.colors ? `\x1b[${code}m${text}\x1b[0m` : text;
  return changes.map((change) => {
    if (change.kind === "added") return paint(32, `+ ${change.path}${summary(change.to)}`);
    if (change.kind === "removed") return paint(31, `- ${change.path}${summary(change.from)}`);
    const moved = change.percent === undefined ? "" : `  (${change.percent})`;
    return paint(33, `~ ${change.path}: ${short(change.from)} → ${short(change.to)}${moved}`);
  }).join("\n");
}

/** A new or lost model is told by its name and type, not by all its keys. */
function summary(value: unknown): string {
  if (!isKeys(value)) return value === undefined ? "" : `: ${short(value)}`;
  const told = value.type ?? value.adapter ?? value.operation ?? value.name;
  return typeof told === "string" ? `  (${told})` : "";
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
