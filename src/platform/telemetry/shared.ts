/** Those who ask while an answer is on its way get that one: several metrics of one query. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | null = null;
  return () => asking ??= ask().finally(() => asking = null);
}
