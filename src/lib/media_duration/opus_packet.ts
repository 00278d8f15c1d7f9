/** Milliseconds of one frame by the configuration in the first byte of a packet (RFC 6716, 3.1). */
function frameMs(configuration: number): number {
  if (configuration < 12) return [10, 20, 40, 60][configuration & 3]!;
  if (configuration < 16) return [10, 20][configuration & 1]!;
  return [2.5, 5, 10, 20][configuration & 3]!;
}

/** Duration of an Opus packet in seconds, by its first two bytes: the timestamp beside it may be wrong. */
export function opusPacketSeconds([first = 0, second = 0]: Uint8Array): number {
  const frames = [1, 2, 2, second & 0x3f][first & 3]!;
  return frames * frameMs(first >> 3) / 1000;
}
