import { joined } from "./png.ts";

/** One track of samples that are shown one after another, each as long as it says. */
export interface Mp4Track {
  readonly kind: "video" | "audio";
  /** Ticks in a second. */
  readonly timescale: number;
  readonly samples: readonly Mp4Sample[];
  /** Its entry of `stsd`: what decodes it. */
  readonly entry: Uint8Array;
  readonly width?: number;
  readonly height?: number;
}

export interface Mp4Sample {
  readonly bytes: Uint8Array;
  readonly ticks: number;
  readonly isKey: boolean;
}

const MOVIE_TIMESCALE = 1000;
const MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

/** An MP4 file with its index in front, so that it plays while it is fetched. No dates: the same in, the same out. */
export function writeMp4(tracks: readonly Mp4Track[]): Uint8Array<ArrayBuffer> {
  const kind = box("ftyp", text("isom"), u32(0x200), text("isomiso2avc1mp41"));
  // Where the samples lie depends on the index's length, which does not depend on where they lie.
  const start = kind.length + index(tracks, 0).length + 8;
  const samples = tracks.flatMap((track) => track.samples.map((sample) => sample.bytes));
  return joined([kind, index(tracks, start), box("mdat", ...samples)]);
}

/** What decodes H.264, from its parameter sets. */
export function avcEntry(
  { width, height, sequence, picture }: {
    width: number;
    height: number;
    sequence: Uint8Array;
    picture: Uint8Array;
  },
): Uint8Array {
  const config = box(
    "avcC",
    Uint8Array.of(1, sequence[1]!, sequence[2]!, sequence[3]!, 0xff, 0xe1),
    u16(sequence.length),
    sequence,
    Uint8Array.of(1),
    u16(picture.length),
    picture,
  );
  return box(
    "avc1",
    new Uint8Array(6),
    u16(1),
    new Uint8Array(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    new Uint8Array(32),
    u16(24, 0xffff),
    config,
  );
}

/** A sample of H.264 as MP4 wants it: its length in front. */
export function avcSample(unit: Uint8Array): Uint8Array {
  return joined([u32(unit.length), unit]);
}

/** What decodes MP3, which MP4 knows as an object of MPEG-4 systems. */
export function mp3Entry(sampleRate: number, channels: number): Uint8Array {
  const isLow = sampleRate < 32_000;
  const decoder = [0x04, 13, isLow ? 0x69 : 0x6b, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const descriptor = Uint8Array.of(0x03, 3 + decoder.length + 3, 0, 1, 0, ...decoder, 0x06, 1, 2);
  return box(
    "mp4a",
    new Uint8Array(6),
    u16(1),
    new Uint8Array(8),
    u16(channels, 16, 0, 0),
    u32(sampleRate * 0x10000),
    box("esds", u32(0), descriptor),
  );
}

function index(tracks: readonly Mp4Track[], start: number): Uint8Array {
  let offset = start;
  const traks = tracks.map((track, at) => {
    const made = trak(track, at + 1, offset);
    offset += track.samples.reduce((sum, sample) => sum + sample.bytes.length, 0);
    return made;
  });
  const movie = box(
    "mvhd",
    u32(0, 0, 0, MOVIE_TIMESCALE, Math.max(...tracks.map(movieTicks)), 0x10000),
    u16(0x100),
    new Uint8Array(10),
    u32(...MATRIX),
    new Uint8Array(24),
    u32(tracks.length + 1),
  );
  return box("moov", movie, ...traks);
}

function trak(track: Mp4Track, id: number, offset: number): Uint8Array {
  const { width = 0, height = 0, timescale, kind } = track;
  const isVideo = kind === "video";
  const header = box(
    "tkhd",
    u32(3, 0, 0, id, 0, movieTicks(track), 0, 0),
    u16(0, 0, isVideo ? 0 : 0x100, 0),
    u32(...MATRIX, width * 0x10000, height * 0x10000),
  );
  const media = box("mdhd", u32(0, 0, 0, timescale, trackTicks(track)), u16(0x55c4, 0));
  const handler = box(
    "hdlr",
    u32(0, 0),
    text(isVideo ? "vide" : "soun"),
    u32(0, 0, 0),
    Uint8Array.of(0),
  );
  const reference = box("dinf", box("dref", u32(0, 1), box("url ", u32(1))));
  const about = isVideo ? box("vmhd", u32(1, 0, 0)) : box("smhd", u32(0, 0));
  return box(
    "trak",
    header,
    box("mdia", media, handler, box("minf", about, reference, sampleTable(track, offset))),
  );
}

/** All samples of a track lie together, in one chunk. */
function sampleTable({ samples, entry }: Mp4Track, offset: number): Uint8Array {
  const runs: [count: number, ticks: number][] = [];
  for (const { ticks } of samples) {
    if (runs.at(-1)?.[1] === ticks) runs.at(-1)![0]++;
    else runs.push([1, ticks]);
  }
  const keys = samples.flatMap((sample, at) => sample.isKey ? [at + 1] : []);
  return box(
    "stbl",
    box("stsd", u32(0, 1), entry),
    box("stts", u32(0, runs.length, ...runs.flat())),
    ...(keys.length === samples.length ? [] : [box("stss", u32(0, keys.length, ...keys))]),
    box("stsc", u32(0, 1, 1, samples.length, 1)),
    box("stsz", u32(0, 0, samples.length, ...samples.map((sample) => sample.bytes.length))),
    box("stco", u32(0, 1, offset)),
  );
}

function trackTicks({ samples }: Mp4Track): number {
  return samples.reduce((sum, sample) => sum + sample.ticks, 0);
}

function movieTicks(track: Mp4Track): number {
  return Math.round(trackTicks(track) * MOVIE_TIMESCALE / track.timescale);
}

function box(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return joined([u32(length), text(type), ...parts]);
}

const text = (letters: string) => new TextEncoder().encode(letters);

function u32(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, at) => view.setUint32(at * 4, value));
  return bytes;
}

function u16(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 2);
  const view = new DataView(bytes.buffer);
  values.forEach((value, at) => view.setUint16(at * 2, value));
  return bytes;
}
