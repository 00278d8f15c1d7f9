import {
  isJsonObject,
  type JsonObject,
  missing,
  readJsonObject,
  readString,
  wrongValue,
} from "../fields.ts";
import type { Directives } from "../directives.ts";
import { WireError } from "../wire_error.ts";
import type { AudioReader } from "./audio_reader.ts";
import { jobDirectives, type SimulatedJob } from "./job.ts";
import { audioId } from "./audio_store.ts";
import { nearestShape } from "./sample_videos.ts";
import { thumbnailOf } from "./thumbnail.ts";

const TYPES = ["image", "video", "avatar"] as const;
/** How long each takes by default: long enough to be seen, short enough to wait for. */
const SECONDS_DEFAULT = { image: 1, video: 4, avatar: 4 } as const;
/** The rest of a prompt would not be legible, and the job's id has to hold it. */
const PROMPT_LENGTH_MAX = 600;
const IMAGES_MAX = 4;
const SIDE_MAX = 4096;
const SECONDS_MAX = 600;

export interface JobBody {
  readonly fields: JsonObject;
  readonly inputs: readonly { readonly role: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
}

/** Reads a job: a JSON body, or a form with the JSON in the field `job` and files in the others. */
export async function readBody(request: Request): Promise<JobBody> {
  const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") === true;
  if (!isForm) return { fields: parseFields(await request.text()), inputs: [] };
  const form = await request.formData();
  const inputs = [];
  for (const [name, value] of form) {
    if (value instanceof File) inputs.push({ role: name, bytes: await value.bytes() });
  }
  return { fields: parseFields(String(form.get("job"))), inputs };
}

export interface JobContext {
  /** The prompt without its directives. */
  readonly prompt: string;
  readonly directives: Directives;
  readonly nowMs: number;
  readonly audioReader: AudioReader;
}

export async function readJob(
  { fields, inputs }: JobBody,
  { prompt, directives, nowMs, audioReader }: JobContext,
): Promise<SimulatedJob> {
  const type = TYPES.find((one) => one === fields.type);
  if (type === undefined) throw wrongValue("type", String(fields.type), TYPES);
  const reference = readString(fields, "reference") ?? crypto.randomUUID();
  const parameters = readJsonObject(fields, "parameters") ?? {};
  if (type !== "avatar" && prompt === "" && inputs.length === 0) throw missing("prompt");
  const images = inputs.filter((input) => input.role !== "audio").slice(0, IMAGES_MAX);
  const audio = inputs.find((input) => input.role === "audio");
  const lengthMs = type === "image"
    ? null
    : type === "video"
    ? readSeconds(parameters) * 1000
    : await audioReader.lengthMs(audio?.bytes ?? null);
  const shownPrompt = [...prompt].slice(0, PROMPT_LENGTH_MAX).join("");
  return {
    type,
    reference,
    startMs: nowMs,
    takesMs: Math.round((directives.seconds ?? SECONDS_DEFAULT[type]) * 1000),
    prompt: shownPrompt,
    seed: `${String(fields.model)} ${shownPrompt} ${String(parameters.seed ?? "")}`,
    ...(type === "image" ? readSize(parameters) : readShape(parameters)),
    count: type === "image" ? readCount(parameters) : 1,
    lengthMs,
    images: images.map((image) => thumbnailOf(image.bytes)),
    audio: audio === undefined ? null : audioId(audio.bytes),
    directives: jobDirectives(directives),
  };
}

function parseFields(text: string): JsonObject {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (isJsonObject(value)) return value;
  throw new WireError(400, "We could not parse the JSON body of your request.");
}

function readCount({ n = 1 }: JsonObject): number {
  if (Number.isInteger(n) && n as number >= 1 && n as number <= 10) return n as number;
  throw new WireError(400, "Expected 'n' to be from 1 to 10.", "n", "invalid_value");
}

function readSeconds({ duration = 5 }: JsonObject): number {
  const seconds = Number(duration);
  if (seconds > 0 && seconds <= SECONDS_MAX) return seconds;
  throw new WireError(
    400,
    `Expected 'duration' to be of at most ${SECONDS_MAX} seconds.`,
    "duration",
    "invalid_value",
  );
}

function readSize({ size = "1024x1024" }: JsonObject): { width: number; height: number } {
  const [width, height] = pair(size, "x", "size");
  if (width! <= SIDE_MAX && height! <= SIDE_MAX) return { width: width!, height: height! };
  throw wrongPair("size", size);
}

/** The size of the prepared video whose shape is nearest. */
function readShape({ aspect_ratio = "16:9" }: JsonObject): { width: number; height: number } {
  const [across, down] = pair(aspect_ratio, ":", "aspect_ratio");
  const ratio = across! / down!;
  if (ratio > 5 || ratio < 0.2) throw wrongPair("aspect_ratio", aspect_ratio);
  const { width, height } = nearestShape(ratio);
  return { width, height };
}

function pair(value: unknown, separator: string, name: string): number[] {
  const numbers = String(value).split(separator).map(Number);
  if (numbers.length === 2 && numbers.every((one) => one >= 1 && Number.isInteger(one))) {
    return numbers;
  }
  throw wrongPair(name, value);
}

function wrongPair(name: string, value: unknown): WireError {
  return new WireError(400, `Invalid value: '${value}'.`, name, "invalid_value");
}
