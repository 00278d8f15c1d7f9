import { crc32, deflateSync } from "node:zlib";

/** Real files, made here: small, and exactly as long as a test wants them. */

/** A PNG of one colour. */
export function png(width = 3, height = 2): Uint8Array<ArrayBuffer> {
  const head = new DataView(new ArrayBuffer(13));
  head.setUint32(0, width);
  head.setUint32(4, height);
  head.setUint8(8, 8);
  head.setUint8(9, 2);
  const rows = new Uint8Array(height * (1 + width * 3)).fill(0);
  return joined([
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    chunk("IHDR", new Uint8Array(head.buffer)),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const named = joined([text(type), content]);
  return joined([be32(content.length), named, be32(crc32(named))]);
}

/** Silence: 16 bits, mono, 8 kHz. */
export function wav(seconds = 2): Uint8Array<ArrayBuffer> {
  const bytes = 16_000 * seconds;
  const head = new DataView(new ArrayBuffer(44));
  const write = (at: number, letters: string) =>
    [...letters].forEach((letter, i) => head.setUint8(at + i, letter.charCodeAt(0)));
  write(0, "RIFF");
  head.setUint32(4, 36 + bytes, true);
  write(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, 8_000, true);
  head.setUint32(28, 16_000, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  write(36, "data");
  head.setUint32(40, bytes, true);
  return joined([new Uint8Array(head.buffer), new Uint8Array(bytes)]);
}

/** The beginning of an MP4; what follows is for the reader to count. */
export function mp4Head(): Uint8Array<ArrayBuffer> {
  return joined([be32(24), text("ftypisom"), be32(512), text("isommp42"), be32(1), text("mdat")]);
}

/** Bytes that begin as an MP4 and go on until there are enough of them. */
export function mp4Of(bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  whole.set(mp4Head());
  return whole;
}

export function joined(parts: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export const text = (letters: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(letters);

function be32(value: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, value);
  return new Uint8Array(view.buffer);
}

/** Silence as FLAC: 16 bits, mono, 8 kHz, a frame for every tenth of a second. */
export function flac(seconds = 2, { announced = seconds } = {}): Uint8Array<ArrayBuffer> {
  const start = new DataView(new ArrayBuffer(34));
  start.setUint16(0, 800);
  start.setUint16(2, 800);
  // Rate, channels less one, bits less one, and how many samples there are.
  start.setUint32(10, 8_000 << 12 | 0 << 9 | 15 << 4);
  start.setUint32(14, 8_000 * announced);
  const frames = Array.from({ length: seconds * 10 }, (_, n) => {
    const head = [0xff, 0xf8, 0x74, 0x08, ...text(String.fromCodePoint(n)), 799 >> 8, 799 & 255];
    const frame = [...head, crc(head, 8, 0x07), 0, 0, 0];
    const sum = crc(frame, 16, 0x8005);
    return [...frame, sum >> 8, sum & 255];
  });
  return joined([text("fLaC"), [0x80, 0, 0, 34], new Uint8Array(start.buffer), ...frames]);
}

function crc(bytes: readonly number[], width: 8 | 16, polynomial: number): number {
  const top = 1 << (width - 1);
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) {
      sum = ((sum & top) === 0 ? sum << 1 : sum << 1 ^ polynomial) & (top * 2 - 1);
    }
  }
  return sum;
}

const M4A_CODECS = {
  aac: { codec: "mp4a.40.2", description: new Uint8Array([0x11, 0x88]) },
  opus: { codec: "opus" },
  flac: {
    codec: "flac",
    description: joined([text("fLaC"), [0x80, 0, 0, 34], new Uint8Array(34).fill(16)]),
  },
} as const;

/** AAC that says nothing, in an M4A: 48 kHz; `samples` is what each packet is said to last. */
export async function m4a(
  packets: number,
  { samples = 1024, codec = "aac" as keyof typeof M4A_CODECS } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { BufferTarget, EncodedAudioPacketSource, EncodedPacket, Mp4OutputFormat, Output } =
    await import("mediabunny");
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const track = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(track);
  await output.start();
  const decoderConfig = {
    sampleRate: 48_000,
    numberOfChannels: 1,
    ...M4A_CODECS[codec],
  };
  const seconds = samples / 48_000;
  // As Opus: one frame of 20 ms.
  const content = new Uint8Array(20).fill(31 << 3, 0, 1);
  for (let n = 0; n < packets; n++) {
    const packet = new EncodedPacket(content, "key", n * seconds, seconds);
    await track.add(packet, { decoderConfig });
  }
  await output.finalize();
  const bytes = new Uint8Array(target.buffer!);
  // The brand of an audio file; the muxer writes that of a video.
  bytes.set(text("M4A "), 8);
  return bytes;
}

/** Packets of an Ogg stream on pages of up to ten, each page with the time that `granule` gives it. */
function ogg(
  headers: Uint8Array[],
  packets: Uint8Array[],
  granule: (packets: number) => number,
): Uint8Array<ArrayBuffer> {
  const pages: Uint8Array[] = [];
  const page = (content: Uint8Array[], flags: number, at: number) => {
    const head = new DataView(new ArrayBuffer(27));
    head.setUint32(0, 0x4f676753);
    head.setUint8(5, flags);
    head.setBigUint64(6, BigInt(at), true);
    head.setUint32(14, 7, true);
    head.setUint32(18, pages.length, true);
    const laced = content.flatMap(({ length }) => [
      ...new Array(Math.floor(length / 255)).fill(255),
      length % 255,
    ]);
    head.setUint8(26, laced.length);
    const whole = joined([new Uint8Array(head.buffer), laced, ...content]);
    new DataView(whole.buffer).setUint32(22, oggCrc(whole), true);
    pages.push(whole);
  };
  page(headers.slice(0, 1), 2, 0);
  page(headers.slice(1), 0, 0);
  for (let at = 0; at < packets.length; at += 10) {
    const end = Math.min(at + 10, packets.length);
    page(packets.slice(at, end), end === packets.length ? 4 : 0, granule(end));
  }
  return joined(pages);
}

function oggCrc(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum < 0 ? sum << 1 ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

/** Opus that says nothing, in packets of 20 ms; `stated` is what a packet lasts by the times of the pages. */
export function oggOpus(
  packets: number,
  { stated = 0.02, code = 0 } = {},
): Uint8Array<ArrayBuffer> {
  const head = joined([text("OpusHead"), [1, 1, 0x38, 0x01, 0x80, 0xbb, 0, 0, 0, 0, 0]]);
  const tags = joined([text("OpusTags"), [4, 0, 0, 0], text("test"), [0, 0, 0, 0]]);
  // Full band, 20 ms a frame; with code 3 the second byte says how many frames.
  const packet = new Uint8Array([31 << 3 | code, 3, 0, 0]);
  return ogg(
    [head, tags],
    new Array(packets).fill(packet),
    (count) => Math.max(312, Math.round(count * stated * 48_000)),
  );
}

/** Packets of Vorbis whose headers say 44.1 kHz and blocks of 256 and 2048; mode 1 is the long one. */
export function oggVorbis(packets: number, { stated = 1 } = {}): Uint8Array<ArrayBuffer> {
  const identity = joined([
    text("\x01vorbis"),
    [0, 0, 0, 0, 1, 0x44, 0xac, 0, 0],
    new Array(12).fill(0),
    [0xb8, 1],
  ]);
  const comments = joined([text("\x03vorbis"), [0, 0, 0, 0, 0, 0, 0, 0, 1]]);
  const bits: number[] = [];
  const put = (value: number, count: number) => {
    for (let bit = 0; bit < count; bit++) bits.push(value >> bit & 1);
  };
  // One codebook of one entry.
  for (const [value, count] of [[0, 8], [0x564342, 24], [1, 16], [1, 24], [0, 1], [0, 1], [0, 5]]) {
    put(value!, count!);
  }
  put(0, 4);
  // One time, floor, residue and mapping each, of the plainest kind.
  for (const bits of [6, 16, 6, 16, 8, 16, 16, 6, 8, 4, 8, 6, 16, 24, 24, 24, 6, 8, 3, 1]) {
    put(0, bits);
  }
  for (const bits of [6, 16, 1, 1, 2, 8, 8, 8]) put(0, bits);
  put(1, 6);
  for (const mode of [0, 1]) {
    put(mode, 1);
    put(0, 32);
    put(0, 8);
  }
  put(1, 1);
  const setup = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, at) => setup[at >> 3]! |= bit << (at & 7));
  return ogg(
    [identity, comments, joined([text("\x05vorbis"), setup])],
    // The first bit says audio, the second which mode: blocks are long.
    new Array(packets).fill(new Uint8Array([2, 0, 0])),
    (count) => Math.round((count - 1) * 1024 * stated),
  );
}
