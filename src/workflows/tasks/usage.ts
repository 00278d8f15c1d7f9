import type { ModelType } from "../../lib/model_types.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import type { MediaUsage } from "../../upstream/media_adapter.ts";
import type { StoredOutput, TaskJob } from "./task.ts";

/** What is paid for, and what clients read as `usage.total_units`. */
export interface MeteredTask {
  usage: Usage;
  units: number;
}

/**
 * Usage of a finished task: stored images, seconds of video, characters of speech. A provider's own count of seconds
 * is used before the gateway's, and neither exceeds what was requested and held.
 */
export function meterTask(
  type: ModelType,
  job: TaskJob,
  outputs: readonly StoredOutput[],
  said: MediaUsage | null,
): MeteredTask {
  switch (type) {
    case "image":
      return { usage: { images: outputs.length, calls: outputs.length }, units: outputs.length };
    case "speech": {
      const characters = [...job.prompt ?? ""].length;
      const ms = measuredMs(outputs, said);
      const seconds = decimalSeconds(capped(ms, job.parameters.seconds_max));
      return {
        usage: { characters, calls: 1, seconds, ...(ms === null ? { estimated: true } : {}) },
        units: characters,
      };
    }
    default: {
      const { duration, seconds_max } = job.parameters;
      const asked = typeof duration === "number" ? duration : seconds_max;
      const ms = capped(
        said?.durationMs ??
          (typeof duration === "number" ? duration * 1000 : measuredMs(outputs, said)),
        asked,
      );
      return {
        usage: { seconds: decimalSeconds(ms), videos: 1, calls: 1 },
        units: Math.ceil(ms / 1000),
      };
    }
  }
}

function measuredMs(outputs: readonly StoredOutput[], said: MediaUsage | null): number | null {
  if (Number.isFinite(said?.durationMs)) return said!.durationMs!;
  const known = outputs.map(({ duration }) => duration).filter((each) => each !== undefined);
  return known.length === 0 ? null : Math.round(known.reduce((sum, each) => sum + each, 0) * 1000);
}

/** Whole milliseconds, at most what was asked; unknown counts as all of it. */
function capped(ms: number | null, secondsMax: unknown): number {
  const most = typeof secondsMax === "number" ? Math.round(secondsMax * 1000) : Infinity;
  const whole = ms === null ? most : Math.min(most, Math.max(0, Math.round(ms)));
  return Number.isFinite(whole) ? whole : 0;
}

/** Exact: "5.25". */
function decimalSeconds(ms: number): string {
  const rest = String(ms % 1000).padStart(3, "0");
  return `${Math.floor(ms / 1000)}.${rest}`;
}
