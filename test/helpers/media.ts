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
