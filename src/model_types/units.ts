import type { Quantity } from "./usage.ts";

export type BillingType = "token" | "per_call" | "duration";

/** A unit that models are sold in. */
interface Unit {
  /** How many base items it has, so that prices in different units can be compared. */
  readonly size: bigint;
  /** Only units of one family can be compared: a price per image and a cost per second cannot. */
  readonly family: string;
  /** What a price per call counts; null for tokens and time, whose billing types count for themselves. */
  readonly counts: Quantity | null;
}

const UNITS: Readonly<Record<string, Unit>> = {
  "1K tokens": { size: 1_000n, family: "tokens", counts: null },
  "1M tokens": { size: 1_000_000n, family: "tokens", counts: null },
  "1K characters": { size: 1_000n, family: "characters", counts: "characters" },
  "1M characters": { size: 1_000_000n, family: "characters", counts: "characters" },
  second: { size: 1n, family: "second", counts: null },
  minute: { size: 60n, family: "second", counts: null },
  image: { size: 1n, family: "image", counts: "images" },
  video: { size: 1n, family: "video", counts: "videos" },
  episode: { size: 1n, family: "episode", counts: "episodes" },
  shot: { size: 1n, family: "shot", counts: "shots" },
  call: { size: 1n, family: "call", counts: "calls" },
};

export const TOKEN_UNITS: readonly string[] = ["1K tokens", "1M tokens"];
export const CHARACTER_UNITS: readonly string[] = ["1K characters", "1M characters"];
export const TIME_UNITS: readonly string[] = ["second", "minute"];

/** A unit by its name; null where there is none. */
export function unitOf(name: unknown): Unit | null {
  return typeof name === "string" && Object.hasOwn(UNITS, name) ? UNITS[name]! : null;
}
