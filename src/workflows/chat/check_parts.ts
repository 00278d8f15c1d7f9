import {
  bareBase64,
  type ContentPart,
  dataUrl,
  headOf,
  type ImageSource,
  isBase64,
  isPdfHead,
  pathOf,
  sniffImage,
} from "../../lib/content_parts.ts";
import { ApiError } from "../../lib/api_error.ts";
import { isSafeUrl, type OutboundPolicy } from "../../platform/outbound/check_url.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fields of a part, by type. Only the type is checked against capabilities, so no other content may be in it. */
export const PART_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["type", "text", "cache_control"]),
  refusal: new Set(["type", "refusal", "cache_control"]),
  image_url: new Set(["type", "image_url", "cache_control"]),
  file: new Set(["type", "file", "cache_control"]),
  input_audio: new Set(["type", "input_audio", "cache_control"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
};
const CACHE_TTLS = new Set<unknown>([undefined, null, "5m", "1h"]);
/** Content fields of other types, for a better error message. */
const CONTENT_FIELDS = new Set([
  ...["text", "refusal", "image_url", "video_url", "audio_url", "file", "file_url", "input_audio"],
  ...["audio", "video", "image", "source", "document", "input_image", "input_file"],
]);
const IMAGE_FIELDS = new Set(["url", "detail"]);
const DETAILS = new Set<unknown>(["auto", "low", "high"]);
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"]);
const FILE_FIELDS = new Set(["file_data", "filename"]);
const AUDIO_FIELDS = new Set(["data", "format"]);
const AUDIO_FORMATS = new Set<unknown>(["wav", "mp3"]);
/** Who may send anything but text. */
const MEDIA_ROLES = new Set<unknown>(["user", "tool"]);

/** Throws an `ApiError` for a part that does not match its type, or is not allowed in its message. */
export function checkPart(part: ContentPart, policy: OutboundPolicy): void {
  if (typeof part.value === "string") return;
  checkType(part);
  checkFields(part.value, part);
  checkCacheMark(part.value.cache_control, `${pathOf(part)}.cache_control`);
  if (part.type === "image_url") return checkImage(part, policy);
  if (part.type === "file") return checkFile(part);
  if (part.type === "input_audio") return checkAudio(part);
  if (part.type === "redacted_thinking") checkText(part, "data");
  else if (part.text === null) throw invalid(`${pathOf(part)}.${part.type}`, "must be a string");
  if (part.type === "text" || part.role === "assistant") return;
  throw invalid(`${pathOf(part)}.type`, `may be ${part.type} in messages of the assistant only`);
}

function checkText(part: ContentPart, name: string): void {
  if (typeof (part.value as Fields)[name] === "string") return;
  throw invalid(`${pathOf(part)}.${name}`, "must be a string");
}

function checkType(part: ContentPart): void {
  if (Object.hasOwn(PART_FIELDS, part.type)) return;
  throw new ApiError(
    "capability_not_supported",
    `Messages cannot contain parts of type ${
      JSON.stringify(part.type.slice(0, 64))
    }. Send text, image_url, file or input_audio.`,
    { param: `${pathOf(part)}.type` },
  );
}

function checkFields(value: Fields, part: ContentPart): void {
  const known = PART_FIELDS[part.type]!;
  for (const name in value) {
    // Other fields are left out: see `clean_request.ts`.
    if (known.has(name) || value[name] === null || !CONTENT_FIELDS.has(name)) continue;
    const param = `${pathOf(part)}.${name}`;
    throw invalid(param, `does not belong to a part of type ${part.type}`, "Send two parts.");
  }
}

/** Anthropic's mark in a prompt up to which it is to be cached. */
function checkCacheMark(mark: unknown, param: string): void {
  if (mark === undefined || mark === null) return;
  const { type, ttl } = mark as { type?: unknown; ttl?: unknown };
  if (type !== "ephemeral") throw invalid(`${param}.type`, "must be ephemeral");
  if (!CACHE_TTLS.has(ttl)) throw invalid(`${param}.ttl`, "must be one of 5m, 1h");
}

function checkImage(part: ContentPart, policy: OutboundPolicy): void {
  const param = `${pathOf(part)}.image_url`;
  const { image } = part;
  if (image === null) {
    throw invalid(
      param,
      'must be an object with a url in a string, such as {"url": "https://example.com/a.png"}',
    );
  }
  const value = fieldsIn(part, "image_url", IMAGE_FIELDS);
  const { detail = null } = value;
  if (detail !== null && !DETAILS.has(detail)) {
    throw invalid(`${param}.detail`, "must be one of auto, low, high");
  }
  checkRole(part);
  checkSource(image, `${param}.url`, policy);
}

function checkRole(part: ContentPart): void {
  if (MEDIA_ROLES.has(part.role)) return;
  throw invalid(`${pathOf(part)}.type`, `may be ${part.type} in messages of user and tool only`);
}

/** The object that a part has under the name of its type. */
function fieldsIn(part: ContentPart, name: string, known: ReadonlySet<string>): Fields {
  const param = `${pathOf(part)}.${name}`;
  const value = (part.value as Fields)[name];
  if (typeof value !== "object" || value === null) throw invalid(param, "must be an object");
  const fields = value as Fields;
  for (const field in fields) {
    if (fields[field] === null || known.has(field)) continue;
    throw unknown(`${param}.${field.slice(0, 100)}`);
  }
  return fields;
}

/** PDF documents. Upstreams trust the media type or the bytes: both must say so. */
function checkFile(part: ContentPart): void {
  const param = `${pathOf(part)}.file`;
  const { file_data: data, filename = null } = fieldsIn(part, "file", FILE_FIELDS);
  if (filename !== null && typeof filename !== "string") {
    throw invalid(`${param}.filename`, "must be a string");
  }
  checkRole(part);
  const source = typeof data === "string" ? dataUrl(data) : null;
  const isPdf = source !== null && source.mimeType === "application/pdf" &&
    isPdfHead(headOf(source, 1024)) && isBase64(source);
  if (isPdf) return;
  throw invalid(
    `${param}.file_data`,
    "must contain a PDF document in base64, such as data:application/pdf;base64,JVBERi0xLjc",
  );
}

function checkAudio(part: ContentPart): void {
  const param = `${pathOf(part)}.input_audio`;
  const { data, format } = fieldsIn(part, "input_audio", AUDIO_FIELDS);
  if (!AUDIO_FORMATS.has(format)) throw invalid(`${param}.format`, "must be one of wav, mp3");
  checkRole(part);
  const source = typeof data === "string" && data !== "" ? bareBase64(data) : null;
  if (source !== null && isBase64(source)) return;
  throw invalid(`${param}.data`, "must contain the audio in base64");
}

/** An upstream may fetch it from inside our network: only public URLs are passed on. */
function checkSource(image: ImageSource, param: string, policy: OutboundPolicy): void {
  if (image.kind === "url") {
    if (isSafeUrl(image.url, policy)) return;
    throw new ApiError(
      "unsafe_url",
      "Images must be data: URLs, or public https URLs without port or user.",
      { param },
    );
  }
  // Both: some upstreams trust the media type and some the bytes, and a document has another price than an image.
  const isImage = IMAGE_TYPES.has(image.mimeType) && sniffImage(headOf(image, 12)) !== null;
  if (isImage && isBase64(image)) return;
  throw invalid(
    param,
    "must contain a PNG, JPEG, GIF or WebP image in base64, such as data:image/png;base64,iVBORw0KGgo",
  );
}

function invalid(param: string, problem: string, hint?: string): ApiError {
  const more = hint === undefined ? "" : ` ${hint}`;
  return new ApiError("invalid_value", `${param} ${problem}.${more}`, { param });
}

function unknown(param: string): ApiError {
  return new ApiError("unknown_field", `The field ${param} is unknown. Leave it out.`, {
    param,
  });
}
