/** Clients send null for an optional field that they do not set. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A list with entries: clients send empty ones too, which ask for nothing. */
export function isAsked(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}
