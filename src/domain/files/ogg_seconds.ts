import { concatBytes } from "../../lib/bytes.ts";
import { type OggStream, openOggStream } from "./ogg_streams.ts";

const HEAD_BYTES = 27;
const MARK = [0x4f, 0x67, 0x67, 0x53];
const STREAMS_MAX = 1_000;
/** Of a packet that is a header. */
const HEADER_BYTES_MAX = 1024 * 1024;
/** The last packet may be cut short by the time that the file states, and the first be passed over. */
const TRIMMED_SECONDS_MAX = 0.2;

interface Track {
  stream: OggStream | null;
  /** The packet that is being put together: its beginning, or all of it while headers come. */
  packet: Uint8Array;
  packets: number;
  /** Where the file says that the stream ends, in samples. */
  granule: number;
}

/**
 * How long an Ogg file plays, by its packets: the times on its pages may be wrong, and players decode what is
 * there. Streams one after another add up. Null where a codec's packets do not tell.
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
        if (!takePage(bytes.subarray(at, page.end), page.bodyAt - at, tracks, ended)) return null;
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

/** What the file states, where the packets agree with it but for what is trimmed; else what they play. */
function playedSeconds({ seconds, rate, skippedSamples }: OggStream, granule: number): number {
  const stated = (granule - skippedSamples) / rate;
  const trimmed = seconds - stated;
  return stated > 0 && trimmed >= 0 && trimmed <= TRIMMED_SECONDS_MAX ? stated : seconds;
}

/** Where the next page may begin: players look for it behind what is none. */
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

function takePage(
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
    // The same number may be used again by a stream that follows.
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
    // Of audio the first bytes tell.
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
