/** What providers send is `unknown` until looked at. These look, and never throw. */
export type Json = Readonly<Record<string, unknown>>;

export function record(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Json
    : null;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The members of a list that are objects. */
export function records(value: unknown): readonly Json[] {
  return list(value).filter((member): member is Json => record(member) !== null);
}

export function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A whole number that counts something. Zero is one. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : null;
}

/** A copy without what was not said, so that JSON and comparisons do not see it. */
export function compact<T extends object>(value: T): T {
  const said = {} as T;
  // Copied, not deleted from: an object that lost a key is slow ever after.
  for (const key in value) if (value[key] !== undefined) said[key] = value[key];
  return said;
}
