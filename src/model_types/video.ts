import schema from "../../schemas/requests/videos_generations.schema.json" with { type: "json" };
import { ApiError } from "../lib/api_error.ts";
import type {
  MadeOutputs,
  MediaModelType,
  MeteredTask,
  RequestCheck,
  TaskJob,
} from "./definition.ts";
import {
  readAspectRatio,
  readDeclared,
  readInputImages,
  readOffered,
  readPrompt,
  readWhole,
} from "./limits.ts";
import { capMs, decimalSeconds, measuredMs } from "./measured_time.ts";
import { TIME_UNITS } from "./units.ts";
import { type Usage, withOptions } from "./usage.ts";

export const video: MediaModelType = {
  work: "media",
  output: "video",
  capabilities: ["text_to_video", "image_to_video", "audio"],
  limits: [
    ...["durations", "resolutions", "aspect_ratios", "max_prompt_length"],
    "max_input_images",
  ],
  units: { per_call: ["video", "call"], duration: TIME_UNITS },
  quota: "video",
  endpoint: { path: "/videos/generations", operation: "generation" },
  request: { name: "videos_generations", schema },

  async check(request) {
    const prompt = readPrompt(request);
    const inputs = await readInputImages(request, {
      without: "text_to_video",
      with: "image_to_video",
    });
    const duration = readDuration(request);
    const resolution = readDeclared(request, { name: "resolution", limit: "resolutions" });
    const parameters = {
      duration,
      ...resolution,
      ...readAudio(request),
      ...readAspectRatio(request),
    };
    return { job: { prompt, parameters, inputs }, maxUsage: videoUsage(duration, parameters) };
  },

  meter: meterVideo,
};

/** One of the model's durations; a model without a list accepts any, but needs one. */
function readDuration(request: Pick<RequestCheck, "model" | "body">): number {
  const filled = readOffered(request, {
    name: "duration",
    limit: "durations",
    code: "duration_not_allowed",
  });
  const { minimum: min, maximum: max } = schema.properties.duration;
  const seconds = readWhole(filled, "duration", { min, max });
  if (seconds !== undefined) return seconds;
  throw new ApiError("missing_field", "The field duration is missing: seconds.", {
    param: "duration",
  });
}

/** Providers charge more for a video with sound, and some make it unless they are told not to: it is always said. */
function readAudio({ model, body }: Pick<RequestCheck, "model" | "body">): { audio?: boolean } {
  if (model.capabilities.has("audio")) return { audio: body.audio === true };
  if (body.audio === undefined) return {};
  throw new ApiError("capability_not_supported", `${model.id} does not take audio: leave it out.`, {
    param: "audio",
  });
}

export function videoUsage(
  seconds: number | string,
  parameters: TaskJob["parameters"],
): Usage {
  return withOptions({ seconds, videos: 1, calls: 1 }, parameters);
}

/** Seconds of the video: as the provider reports them, else as requested, else as measured. */
export function meterVideo({ parameters }: TaskJob, made: MadeOutputs): MeteredTask {
  const { duration, seconds_max } = parameters;
  const isAsked = typeof duration === "number";
  const ms = capMs(
    made.reported?.durationMs ?? (isAsked ? duration * 1000 : measuredMs(made)),
    isAsked ? duration : seconds_max,
  );
  return { usage: videoUsage(decimalSeconds(ms), parameters), units: Math.ceil(ms / 1000) };
}
