import { concatBytes } from "../bytes.ts";
import { type OggStream, openOggStream } from "./ogg_streams.ts";

const HEAD_BYTES = 27;
const MARK = [0x4f, 0x67, 0x67, 0x53];
const STREAMS_MAX = 1_000;
/** Of a header packet. */
const HEADER_BYTES_MAX = 1024 * 1024;
/** The file may state that parts of the first and last packet are not played. */
const TRIMMED_SECONDS_MAX = 0.2;

interface Track {
  stream: OggStream | null;
  /** The packet that is being assembled: its beginning, or all of it for header packets. */
  packet: Uint8Array;
  packets: number;
  /** End of the stream in samples, as the file states it. */
  granule: number;
}

/**
 * Duration of an Ogg file by its packets: the timestamps of its pages may be wrong, and players decode all packets.
 * Chained streams add up. Null for codecs whose packets have no duration of their own.
 */
export async function oggSeconds(chunks: AsyncIterable<Uint8Array>): Promise<number | null> {
  const tracks = new Map<number, Track>();
  const ended: Track[] = [];
  let bytes = new Uint8Array();
  for await (const chunk of chunks) {
    bytes = concatBytes([bytes, chunk]);
    let at = 0;
    while (true) {
      const page = pageAt(bytes, at);
      if (page === "none") at = nextMark(bytes, at + 1);
      else if (page === "incomplete") break;
      else {
        if (!addPage(bytes.subarray(at, page.end), page.bodyAt - at, tracks, ended)) return null;
        at = page.end;
      }
    }
    bytes = bytes.slice(at);
  }
  const all = [...ended, ...tracks.values()];
  if (all.length === 0) return null;
  let seconds = 0;
  for (const track of all) {
    if (track.stream === null) return null;
    seconds += playedSeconds(track.stream, track.granule);
  }
  return seconds;
}

/** The stated duration where the packets agree with it, apart from trimming; else the duration of the packets. */
function playedSeconds({ seconds, rate, skippedSamples }: OggStream, granule: number): number {
  const stated = (granule - skippedSamples) / rate;
  const trimmed = seconds - stated;
  return stated > 0 && trimmed >= 0 && trimmed <= TRIMMED_SECONDS_MAX ? stated : seconds;
}

/** Where the next page may begin: players skip other bytes. */
function nextMark(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(MARK[0]!, from);
  return at < 0 ? bytes.length : at;
}

function pageAt(
  bytes: Uint8Array,
  at: number,
): { bodyAt: number; end: number } | "none" | "incomplete" {
  if (at + HEAD_BYTES > bytes.length) return "incomplete";
  if (MARK.some((byte, i) => bytes[at + i] !== byte)) return "none";
  const segments = bytes[at + 26]!;
  const bodyAt = at + HEAD_BYTES + segments;
  if (bodyAt > bytes.length) return "incomplete";
  let end = bodyAt;
  for (let i = at + HEAD_BYTES; i < bodyAt; i++) end += bytes[i]!;
  return end > bytes.length ? "incomplete" : { bodyAt, end };
}

function addPage(
  page: Uint8Array,
  bodyAt: number,
  tracks: Map<number, Track>,
  ended: Track[],
): boolean {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const serial = view.getUint32(14, true);
  const isFirst = (page[5]! & 2) !== 0;
  let track = tracks.get(serial);
  if (track === undefined || isFirst) {
    // A stream that follows may use the same serial number.
    if (track !== undefined) ended.push(track);
    if (ended.length + tracks.size >= STREAMS_MAX) return false;
    track = { stream: null, packet: new Uint8Array(), packets: 0, granule: 0 };
    tracks.set(serial, track);
  }
  const granule = Number(view.getBigInt64(6, true));
  if (granule > 0) track.granule = granule;
  let at = bodyAt;
  for (let i = HEAD_BYTES; i < bodyAt; i++) {
    const length = page[i]!;
    const isHeader = track.stream === null || track.packets < track.stream.headers;
    // The first bytes of an audio packet are enough.
    if (isHeader || track.packet.length < 2) {
      track.packet = concatBytes([track.packet, page.subarray(at, at + length)]);
    }
    if (track.packet.length > HEADER_BYTES_MAX) return false;
    at += length;
    if (length < 255 && !endPacket(track)) return false;
  }
  return true;
}

function endPacket(track: Track): boolean {
  if (track.stream === null) track.stream = openOggStream(track.packet);
  if (track.stream === null || !track.stream.add(track.packet, track.packets)) return false;
  track.packets++;
  track.packet = new Uint8Array();
  return true;
}
