import type { MediaKind } from "./files.ts";

export interface MediaType {
  readonly mimeType: string;
  readonly kind: MediaKind;
  readonly extension: string;
}

/** What is taken, by the name that sniffing gives it. Nothing here can run in a browser. */
const TYPES: Readonly<Record<string, MediaType>> = Object.fromEntries(([
  ["image/png", "png"],
  ["image/apng", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/avif", "avif"],
  ["image/heic", "heic"],
  ["image/heif", "heif"],
  ["image/bmp", "bmp"],
  ["image/tiff", "tiff"],
  ["audio/mpeg", "mp3"],
  ["audio/wav", "wav"],
  ["audio/ogg", "ogg"],
  ["audio/flac", "flac"],
  ["audio/aac", "aac"],
  ["audio/amr", "amr"],
  ["audio/aiff", "aiff"],
  ["audio/mp4", "m4a"],
  ["video/mp4", "mp4"],
  ["video/quicktime", "mov"],
  ["video/webm", "webm"],
  ["video/matroska", "mkv"],
  ["video/mpeg", "mpg"],
  ["video/3gpp", "3gp"],
  ["video/3gpp2", "3g2"],
  ["video/ogg", "ogv"],
  ["video/x-msvideo", "avi"],
] as const).map(([mimeType, extension]) => [mimeType, {
  mimeType,
  extension,
  kind: mimeType.split("/")[0] as MediaKind,
}]));

/** Other names for the same thing, as sniffers and upstreams use them. */
const ALIASES: Readonly<Record<string, string>> = {
  "audio/x-m4a": "audio/mp4",
  "audio/x-flac": "audio/flac",
  "audio/ogg; codecs=opus": "audio/ogg",
  "audio/opus": "audio/ogg",
  "audio/x-wav": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "video/x-m4v": "video/mp4",
  "video/vnd.avi": "video/x-msvideo",
  "video/x-matroska": "video/matroska",
  "video/MP1S": "video/mpeg",
  "video/MP2P": "video/mpeg",
};

/** Samples without any head: the one kind of media that cannot be told from its bytes. */
export const RAW_AUDIO: MediaType = { mimeType: "audio/pcm", kind: "audio", extension: "pcm" };

/** Enough of a file to tell what it is. */
export const SNIFF_BYTES = 4100;

/** The type that a sniffer's name stands for; null when it is no image, audio or video that is known here. */
export function mediaType(name: string): MediaType | null {
  return TYPES[ALIASES[name] ?? name] ?? null;
}

export const MEDIA_TYPE_NAMES: readonly string[] = Object.keys(TYPES);
