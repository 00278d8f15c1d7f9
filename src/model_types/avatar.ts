import schema from "../../schemas/requests/avatars_generations.schema.json" with { type: "json" };
import { ApiError } from "../lib/api_error.ts";
import type { MediaModelType } from "./definition.ts";
import { listLimit, readAspectRatio, readFile } from "./limits.ts";
import { TIME_UNITS } from "./units.ts";
import { meterVideo, videoUsage } from "./video.ts";

/** An avatar speaks as long as its audio; this is the maximum without a configured limit. */
const SECONDS_UNDECLARED = 600;

export const avatar: MediaModelType = {
  work: "media",
  output: "video",
  capabilities: ["audio_to_avatar"],
  limits: ["durations", "aspect_ratios"],
  units: { per_call: ["video", "call"], duration: TIME_UNITS },
  quota: "video",
  endpoint: { path: "/avatars/generations", operation: "generation" },
  request: { name: "avatars_generations", schema },

  async check(request) {
    const { model, body, findFile } = request;
    const ratio = readAspectRatio(request);
    const [face, audio] = await Promise.all([
      readFile(findFile, {
        id: body.avatar_file_id,
        param: "avatar_file_id",
        kinds: ["image", "video"],
      }),
      readFile(findFile, { id: body.audio_file_id, param: "audio_file_id", kinds: ["audio"] }),
    ]);
    const longest = Math.max(...listLimit<number>(model, "durations") ?? [SECONDS_UNDECLARED]);
    const seconds = audio.durationMs === null ? longest : Math.ceil(audio.durationMs / 1000);
    if (seconds > longest) {
      throw new ApiError("duration_not_allowed", `The audio may last ${longest} seconds.`, {
        param: "audio_file_id",
      });
    }
    const parameters = { ...ratio, seconds_max: seconds };
    return {
      job: {
        prompt: null,
        parameters,
        inputs: [{ role: "avatar", file_id: face.id }, { role: "audio", file_id: audio.id }],
      },
      maxUsage: videoUsage(seconds, parameters),
    };
  },

  meter: meterVideo,
};
