import type { MadeOutputs } from "./definition.ts";

/** Milliseconds of the results: the provider's own count before the gateway's; null where neither is known. */
export function measuredMs({ outputs, reported }: MadeOutputs): number | null {
  if (Number.isFinite(reported?.durationMs)) return reported!.durationMs!;
  const known = (outputs ?? []).flatMap(({ duration }) => duration ?? []);
  return known.length === 0 ? null : Math.round(known.reduce((sum, each) => sum + each, 0) * 1000);
}

/** Whole milliseconds, at most what was asked; unknown counts as all of it. */
export function capMs(ms: number | null, secondsMax: unknown): number {
  const most = typeof secondsMax === "number" ? Math.round(secondsMax * 1000) : Infinity;
  const whole = ms === null ? most : Math.min(most, Math.max(0, Math.round(ms)));
  return Number.isFinite(whole) ? whole : 0;
}

/** Exact: "5.250". */
export function decimalSeconds(ms: number): string {
  const rest = String(ms % 1000).padStart(3, "0");
  return `${Math.floor(ms / 1000)}.${rest}`;
}
