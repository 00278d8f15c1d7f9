import { readNumber, readString, wrongValue } from "../fields.ts";
import { planLostAnswer, planWhole, planWithoutWork, type ResponsePlan } from "../plan_response.ts";
import { type Directives, type FailLimit, parseDirectives, takeDirectives } from "../directives.ts";
import { writeMp3 } from "./mp3.ts";
import { readBody } from "./read_job.ts";
import { SAMPLE_RATE, speechLength, synthesizeSpeech } from "./speech.ts";
import { writeWav } from "./wav.ts";

const FORMATS = ["mp3", "wav", "pcm"] as const;
const TYPES = { mp3: "audio/mpeg", wav: "audio/wav", pcm: "audio/pcm" } as const;

/** Answers `POST /audio/speech` with the audio file. */
export async function planSpeech(
  request: Request,
  { defaults, failLimit }: { defaults: Directives; failLimit: FailLimit },
): Promise<ResponsePlan> {
  const configured = { ...defaults, ...parseDirectives(request.headers.get("x-simulate") ?? "") };
  const { fields } = await readBody(request);
  const input = readString(fields, "input") ?? "";
  const { directives: requested, rest: text } = takeDirectives(input, configured);
  const directives = failLimit.apply({ ...configured, ...requested });
  const immediate = planWithoutWork(directives);
  if (immediate !== null) return immediate;
  const named = readString(fields, "response_format") ?? "mp3";
  const format = FORMATS.find((one) => one === named);
  if (format === undefined) throw wrongValue("response_format", named, FORMATS);
  const speed = readNumber(fields, "speed", { kind: "decimal", min: 0.25, max: 4 }) ?? 1;
  const voice = readString(fields, "voice") ?? "alma";
  const lost = planLostAnswer(directives);
  if (lost !== null) return lost;
  const samples = speechLength(text, speed);
  const bytes = await encode(
    format,
    samples,
    (count) => synthesizeSpeech(text, { voice, speed, count }),
  );
  return planWhole(bytes, directives, {
    type: TYPES[format],
    headers: { "x-audio-duration-ms": String(Math.round(samples * 1000 / SAMPLE_RATE)) },
    spentMs: (directives.seconds ?? 0) * 1000,
  });
}

function encode(
  format: typeof FORMATS[number],
  samples: number,
  synthesize: (count: number) => Int16Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> {
  switch (format) {
    case "mp3":
      return writeMp3(synthesize, samples, SAMPLE_RATE);
    case "wav":
      return writeWav(synthesize(samples), SAMPLE_RATE);
    case "pcm":
      return new Uint8Array(synthesize(samples).buffer);
  }
}
