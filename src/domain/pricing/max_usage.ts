import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Usage } from "./usage.ts";

type Body = Readonly<Record<string, unknown>>;

/** An avatar speaks as long as its audio; this is the maximum without a configured limit. */
const AVATAR_SECONDS_UNDECLARED = 600;

/** The maximum usage of a request: the basis of its quote and of its hold. */
export function maxUsage(model: Model, body: Body): Usage {
  switch (model.type) {
    case "chat":
      // What a chat can use depends on what is sent, not on its body alone: chat/token_bound.ts.
      throw new TypeError(`Cannot bound a chat with ${model.id} by its body`);
    case "image": {
      const images = whole(body, "n", 1, numberLimit(model, "max_count") ?? 10) ?? 1;
      return { images, calls: images };
    }
    case "video":
      return { seconds: duration(model, body), videos: 1, calls: 1 };
    case "avatar": {
      const seconds = Math.max(...listLimit(model, "durations") ?? [AVATAR_SECONDS_UNDECLARED]);
      return { seconds, videos: 1, calls: 1 };
    }
    case "drama": {
      const shots = numberLimit(model, "max_shots") ?? 1;
      return { shots, episodes: 1, calls: 1, seconds: shots * shotSeconds(model) };
    }
    case "speech": {
      const characters = [...text(body, "input")].length;
      // Slow speech: five characters a second at a quarter of the speed.
      return { characters, seconds: Math.ceil(characters * 4 / 5), calls: 1 };
    }
  }
}

/** The requested duration if the model offers it; optional for a model with one duration. */
function duration(model: Model, body: Body): number {
  const offered = listLimit(model, "durations");
  const asked = whole(body, "duration", 1, 36_000);
  if (asked === undefined) {
    if (offered?.length === 1) return offered[0]!;
    throw new ApiError(
      "missing_field",
      `The field duration is missing: ${offered?.join(", ") ?? "seconds"}.`,
      {
        param: "duration",
      },
    );
  }
  if (offered !== undefined && !offered.includes(asked)) {
    throw new ApiError(
      "duration_not_allowed",
      `duration must be one of ${offered.join(", ")} seconds.`,
      {
        param: "duration",
      },
    );
  }
  return asked;
}

function whole(body: Body, name: string, min: number, max: number): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    const message = `${name} must be a whole number from ${min} to ${max}.`;
    throw new ApiError("invalid_value", message, { param: name });
  }
  return value;
}

function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value === "string") return value;
  throw new ApiError("missing_field", `The field ${name} is missing.`, { param: name });
}

function numberLimit(model: Model, name: string): number | undefined {
  const limit = model.limits[name];
  return typeof limit === "number" ? limit : undefined;
}

function listLimit(model: Model, name: string): readonly number[] | undefined {
  const limit = model.limits[name];
  return Array.isArray(limit) ? limit as readonly number[] : undefined;
}

function shotSeconds({ pipeline }: Model): number {
  return pipeline?.video.offered === true ? pipeline.video.duration : 0;
}
