import type { FileKind, MediaKind } from "./files.ts";

export interface FileType {
  readonly mimeType: string;
  readonly kind: FileKind;
  readonly extension: string;
}

export interface MediaType extends FileType {
  readonly kind: MediaKind;
}

/** Accepted types, by the sniffer's name. A browser executes none of them. */
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

/** Results of dramas, which this service writes itself. */
export const JSON_TEXT: FileType = {
  mimeType: "application/json",
  kind: "text",
  extension: "json",
};

/** Samples without a header: the only accepted type that cannot be detected from its bytes. */
export const RAW_AUDIO: MediaType = { mimeType: "audio/pcm", kind: "audio", extension: "pcm" };

/** Enough bytes of a file to detect its type. */
export const SNIFF_BYTES = 4100;

/** The type for a sniffer's name; null for anything but an accepted image, audio or video. */
export function mediaType(name: string): MediaType | null {
  return TYPES[ALIASES[name] ?? name] ?? null;
}

/** The usual extension of a file's name, without its dot. */
export function extensionOf(mimeType: string): string {
  return (mimeType === RAW_AUDIO.mimeType ? RAW_AUDIO : mediaType(mimeType))?.extension ?? "bin";
}

export const MEDIA_TYPE_NAMES: readonly string[] = Object.keys(TYPES);
