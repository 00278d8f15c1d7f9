import { type Fields, isFields, missing, readFields, readString, wrongValue } from "../fields.ts";
import { type Orders, takeDirectives } from "../directives.ts";
import { WireError } from "../wire_error.ts";
import { audioLength } from "./read_audio.ts";
import { type Job, jobOrders } from "./job.ts";
import { soundName } from "./sounds.ts";
import { thumbnailOf } from "./thumbnail.ts";

const TYPES = ["image", "video", "avatar"] as const;
/** How long the making of each takes unless told: long enough to be seen, short enough to wait for. */
const SECONDS_USUAL = { image: 1, video: 4, avatar: 4 } as const;
/** More of a prompt is not legible, and the id has to carry it. */
const PROMPT_LENGTH_MAX = 600;
const PICTURES_MAX = 4;
const SIDE_MAX = 4096;
const SECONDS_MAX = 600;
/** Pixels of a clip, whatever its shape. */
const CLIP_AREA = 640 * 360;

export interface JobBody {
  readonly fields: Fields;
  readonly inputs: readonly { readonly role: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
}

/** A job in OpenAI's manner: JSON alone, or as a form's field `job` with the files beside it. */
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

/** What the prompt orders, and what it says without that. */
export function readPrompt(fields: Fields, declared: Orders): { orders: Orders; prompt: string } {
  const written = readString(fields, "prompt") ?? "";
  const { orders, rest } = declared.directives === false
    ? { orders: {}, rest: written }
    : takeDirectives(written);
  return { orders: { ...declared, ...orders }, prompt: rest };
}

export async function readJob(
  { fields, inputs }: JobBody,
  prompt: string,
  orders: Orders,
  nowMs: number,
): Promise<Job> {
  const type = TYPES.find((one) => one === fields.type);
  if (type === undefined) throw wrongValue("type", String(fields.type), TYPES);
  const reference = readString(fields, "reference") ?? crypto.randomUUID();
  const parameters = readFields(fields, "parameters") ?? {};
  if (type !== "avatar" && prompt === "" && inputs.length === 0) throw missing("prompt");
  const pictures = inputs.filter((input) => input.role !== "audio").slice(0, PICTURES_MAX);
  const audio = inputs.find((input) => input.role === "audio");
  const lengthMs = type === "image"
    ? null
    : type === "video"
    ? readSeconds(parameters) * 1000
    : await audioLength(audio?.bytes ?? null);
  const shown = [...prompt].slice(0, PROMPT_LENGTH_MAX).join("");
  return {
    type,
    reference,
    startMs: nowMs,
    takesMs: Math.round((orders.seconds ?? SECONDS_USUAL[type]) * 1000),
    prompt: shown,
    seed: `${String(fields.model)} ${shown} ${String(parameters.seed ?? "")}`,
    ...(type === "image" ? readSize(parameters) : readRatio(parameters)),
    count: type === "image" ? readCount(parameters) : 1,
    lengthMs,
    pictures: pictures.map((picture) => thumbnailOf(picture.bytes)),
    sound: audio === undefined ? null : soundName(audio.bytes),
    orders: jobOrders(orders),
  };
}

function parseFields(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (isFields(value)) return value;
  throw new WireError(400, "We could not parse the JSON body of your request.");
}

function readCount({ n = 1 }: Fields): number {
  if (Number.isInteger(n) && n as number >= 1 && n as number <= 10) return n as number;
  throw new WireError(400, "Expected 'n' to be from 1 to 10.", "n", "invalid_value");
}

function readSeconds({ duration = 5 }: Fields): number {
  const seconds = Number(duration);
  if (seconds > 0 && seconds <= SECONDS_MAX) return seconds;
  throw new WireError(
    400,
    `Expected 'duration' to be of at most ${SECONDS_MAX} seconds.`,
    "duration",
    "invalid_value",
  );
}

function readSize({ size = "1024x1024" }: Fields): { width: number; height: number } {
  const [width, height] = pair(size, "x", "size");
  if (width! <= SIDE_MAX && height! <= SIDE_MAX) return { width: width!, height: height! };
  throw wrongPair("size", size);
}

/** The same area for every shape, in even numbers of pixels. */
function readRatio({ aspect_ratio = "16:9" }: Fields): { width: number; height: number } {
  const [across, down] = pair(aspect_ratio, ":", "aspect_ratio");
  const ratio = across! / down!;
  if (ratio > 5 || ratio < 0.2) throw wrongPair("aspect_ratio", aspect_ratio);
  const height = Math.round(Math.sqrt(CLIP_AREA / ratio) / 2) * 2;
  return { width: Math.round(height * ratio / 2) * 2, height };
}

function pair(value: unknown, mark: string, name: string): number[] {
  const numbers = String(value).split(mark).map(Number);
  if (numbers.length === 2 && numbers.every((one) => one >= 1 && Number.isInteger(one))) {
    return numbers;
  }
  throw wrongPair(name, value);
}

function wrongPair(name: string, value: unknown): WireError {
  return new WireError(400, `Invalid value: '${value}'.`, name, "invalid_value");
}
