/** Calls during a call share its result: several metrics need one query. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | null = null;
  return () => asking ??= ask().finally(() => asking = null);
}
