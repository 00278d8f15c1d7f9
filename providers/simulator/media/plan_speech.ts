import { readNumber, readString, wrongValue } from "../fields.ts";
import { type Plan, planRefusal, planUntold, planWhole } from "../misbehave.ts";
import { type Orders, parseOrders, takeDirectives } from "../directives.ts";
import { murmurMp3 } from "./mp3.ts";
import { readBody } from "./read_job.ts";
import { SAMPLE_RATE, speak, speechLength } from "./speech.ts";
import { writeWav } from "./wav.ts";

const FORMATS = ["mp3", "wav", "pcm"] as const;
const TYPES = { mp3: "audio/mpeg", wav: "audio/wav", pcm: "audio/pcm" } as const;

/** `POST /audio/speech`: the sound itself. */
export async function planSpeech(
  request: Request,
  standing: Orders,
  ordersNow: (orders: Orders) => Orders,
): Promise<Plan> {
  const declared = { ...standing, ...parseOrders(request.headers.get("x-simulate") ?? "") };
  const { fields } = await readBody(request);
  const written = readString(fields, "input") ?? "";
  const { orders: asked, rest: text } = declared.directives === false
    ? { orders: {}, rest: written }
    : takeDirectives(written);
  const orders = ordersNow({ ...declared, ...asked });
  const refusal = planRefusal(orders);
  if (refusal !== null) return refusal;
  const named = readString(fields, "response_format") ?? "mp3";
  const format = FORMATS.find((one) => one === named);
  if (format === undefined) throw wrongValue("response_format", named, FORMATS);
  const speed = readNumber(fields, "speed", { kind: "decimal", min: 0.25, max: 4 }) ?? 1;
  const voice = readString(fields, "voice") ?? "alma";
  const untold = planUntold(orders);
  if (untold !== null) return untold;
  const samples = speechLength(text, speed);
  const bytes = await encoded(format, samples, (count) => speak(text, { voice, speed, count }));
  return planWhole(bytes, orders, {
    type: TYPES[format],
    headers: { "x-audio-duration-ms": String(Math.round(samples * 1000 / SAMPLE_RATE)) },
    spentMs: (orders.seconds ?? 0) * 1000,
  });
}

function encoded(
  format: typeof FORMATS[number],
  samples: number,
  sound: (count: number) => Int16Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> {
  switch (format) {
    case "mp3":
      return murmurMp3(sound, samples, SAMPLE_RATE);
    case "wav":
      return writeWav(sound(samples), SAMPLE_RATE);
    case "pcm":
      return new Uint8Array(sound(samples).buffer);
  }
}
