import { opusPacketSeconds } from "./opus_packet.ts";
import { bitsOf, vorbisModes } from "./vorbis_modes.ts";

/** Adds up the durations of the packets of one stream in an Ogg file. */
export interface OggStream {
  /** How many of the first packets are headers, which are needed whole. */
  readonly headers: number;
  /** Sampling rate and samples that are skipped at the start, as the file states them. */
  readonly rate: number;
  readonly skippedSamples: number;
  seconds: number;
  /** False when the duration of the stream cannot be determined. */
  add(packet: Uint8Array, index: number): boolean;
}

const letters = (bytes: Uint8Array, from: number, to: number) =>
  String.fromCharCode(...bytes.subarray(from, to));

/** Opens a stream by its first packet; null for codecs whose packets have no duration of their own. */
export function openOggStream(first: Uint8Array): OggStream | null {
  if (letters(first, 0, 8) === "OpusHead" && first.length >= 19) return openOpus(first);
  if (letters(first, 0, 7) === "\x01vorbis" && first.length >= 29) return openVorbis(first);
  return null;
}

function openOpus(head: Uint8Array): OggStream {
  return {
    headers: 2,
    rate: 48_000,
    skippedSamples: head[10]! | head[11]! << 8,
    seconds: 0,
    add(packet, index) {
      if (index >= 2) this.seconds += opusPacketSeconds(packet);
      return true;
    },
  };
}

function openVorbis(head: Uint8Array): OggStream | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const channels = head[11]!;
  const rate = view.getUint32(12, true);
  const [short, long] = [1 << (head[28]! & 15), 1 << (head[28]! >> 4)];
  if (rate === 0 || short < 64 || long < short || long > 8192) return null;
  let modes: readonly boolean[] | null = null;
  let modeBits = 0;
  let lastBlock = 0;
  return {
    headers: 3,
    rate,
    skippedSamples: 0,
    seconds: 0,
    add(packet, index) {
      if (index === 2) {
        modes = vorbisModes(packet, channels);
        if (modes !== null) modeBits = bitsOf(modes.length - 1);
        return modes !== null;
      }
      // Empty packets and packets without audio have no duration.
      if (index < 3 || packet.length === 0 || (packet[0]! & 1) === 1) return true;
      const isLong = modes![packet[0]! >> 1 & (1 << modeBits) - 1];
      // The setup header does not define the mode: players differ in what they play.
      if (isLong === undefined) return false;
      const block = isLong ? long : short;
      // Blocks overlap with their neighbours by half.
      if (lastBlock > 0) this.seconds += (lastBlock + block) / 4 / rate;
      lastBlock = block;
      return true;
    },
  };
}
