const USUAL_MS = 3_000;
const LENGTH_MS_MAX = 600_000;

/** How long a sound is, in milliseconds; some seconds where nobody can tell. */
export async function audioLength(bytes: Uint8Array<ArrayBuffer> | null): Promise<number> {
  if (bytes === null) return USUAL_MS;
  // Half a second to load, for avatars only.
  const { ALL_FORMATS, BufferSource, Input } = await import("mediabunny");
  try {
    using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
    const ms = Math.round(await input.computeDuration() * 1000);
    return Math.min(LENGTH_MS_MAX, Math.max(100, ms));
  } catch {
    return USUAL_MS;
  }
}
