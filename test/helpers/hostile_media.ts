import { joined, text } from "./media.ts";

/** Files that are made to keep a parser busy. */

/** 69 bytes whose list of tracks is empty: a Matroska reader that never advances. */
export function endlessWebm(): Uint8Array<ArrayBuffer> {
  return joined([
    [0x1a, 0x45, 0xdf, 0xa3, 0x93, 0x42, 0x82, 0x84],
    text("webm"),
    [0x42, 0x87, 0x81, 4, 0x42, 0x85, 0x81, 2, 0xec, 0x82, 0, 0],
    [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0x16, 0x54, 0xae, 0x6b, 0x00],
    new Array(28).fill(0),
  ]);
}

/**
 * An MP4 of a few hundred bytes with one fragment that claims so many samples: 20 million take a reader
 * seconds, four thousand million all its memory.
 */
export function crowdedMp4(samples: number, brand = "isom"): Uint8Array<ArrayBuffer> {
  const sampleTable = box(
    "stbl",
    box("stsd", be32(0, 1), box("avc1", zeros(24), [0, 64, 0, 64], zeros(50), avcSettings())),
    box("stts", be32(0, 0)),
    box("stsc", be32(0, 0)),
    box("stsz", be32(0, 1, 0)),
    box("stco", be32(0, 0)),
  );
  const media = box(
    "mdia",
    box("mdhd", be32(0, 0, 0, 1000, 1000), [0x55, 0xc4, 0, 0]),
    box("hdlr", be32(0, 0), text("vide"), zeros(13)),
    box("minf", sampleTable),
  );
  const track = box(
    "trak",
    box("tkhd", be32(7, 0, 0, 1, 0, 1000), zeros(52), be32(64 << 16, 64 << 16)),
    media,
  );
  return joined([
    box("ftyp", text(brand), be32(512), text("isommp42")),
    box(
      "moov",
      box("mvhd", be32(0, 0, 0, 1000, 1000), zeros(80)),
      track,
      box("mvex", box("trex", be32(0, 1, 1, 1, 1, 0))),
    ),
    box(
      "moof",
      box("mfhd", be32(0, 1)),
      box("traf", box("tfhd", be32(0, 1)), box("tfdt", be32(0, 0)), box("trun", be32(0, samples))),
    ),
    box("mdat", zeros(4)),
  ]);
}

const avcSettings = () => box("avcC", [1, 0x42, 0xc0, 0x1e, 0xff, 0xe0, 0]);

function box(name: string, ...content: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> {
  const inner = joined(content);
  return joined([be32(inner.length + 8), text(name), inner]);
}

function be32(...values: number[]): number[] {
  return values.flatMap((
    value,
  ) => [value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255]);
}

const zeros = (count: number): number[] => new Array(count).fill(0);
