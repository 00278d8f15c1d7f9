/** Provider responses are `unknown` until checked. These functions check a type and never throw. */
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

/** A count: a safe integer that is not negative. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : null;
}

/** A copy without undefined fields. */
export function compact<T extends object>(value: T): T {
  const copy = {} as T;
  // Copied, because V8 makes an object slow once a key is deleted from it.
  for (const key in value) if (value[key] !== undefined) copy[key] = value[key];
  return copy;
}
