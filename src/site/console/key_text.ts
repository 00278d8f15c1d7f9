import type { ApiKey } from "../../domain/accounts/api_keys.ts";

/** How a page names an API key. */
export function keyText({ name, last4 }: ApiKey): string {
  return `${name} (…${last4})`;
}

/** The same by its id, which a request has: a request without a key was made in the console. */
export function requestKeyText(keys: readonly ApiKey[], id: string | null): string {
  const key = keys.find((each) => each.id === id);
  return key === undefined ? id ?? "Console" : keyText(key);
}
