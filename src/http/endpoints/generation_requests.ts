import type { AnySchemaObject } from "ajv/dist/2020.js";
import { ApiError } from "../../lib/api_error.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { bodySchema } from "../body_schema.ts";
import avatars from "../../../schemas/requests/avatars_generations.schema.json" with {
  type: "json",
};
import dramas from "../../../schemas/requests/dramas_generations.schema.json" with { type: "json" };
import images from "../../../schemas/requests/images_generations.schema.json" with { type: "json" };
import speech from "../../../schemas/requests/audio_speech.schema.json" with { type: "json" };
import videos from "../../../schemas/requests/videos_generations.schema.json" with { type: "json" };

export interface GenerationRequest {
  /** Its name in the OpenAPI document. */
  readonly title: string;
  readonly schema: AnySchemaObject;
  readonly check: (body: unknown) => GenerationBody;
}

function request(schema: AnySchemaObject): GenerationRequest {
  const checkSchema = bodySchema<GenerationBody>(schema, { nullIsAbsent: true });
  return {
    title: schema.title,
    schema,
    check(body) {
      const checked = checkSchema(body);
      checkStorable(checked, "");
      return checked;
    },
  };
}

/** Requests are stored, and the database accepts neither NUL nor half a surrogate pair. */
function checkStorable(value: unknown, at: string): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const message =
      `${at} contains a character that cannot be stored, such as NUL or half an emoji.`;
    throw new ApiError("invalid_value", message, { param: at });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    checkStorable(part, at === "" ? name : `${at}.${name}`);
  }
}

/** Bodies of generation endpoints, by the name that a route of the configuration gives. */
export const GENERATION_REQUESTS: ReadonlyMap<string, GenerationRequest> = new Map([
  ["images_generations", request(images)],
  ["videos_generations", request(videos)],
  ["avatars_generations", request(avatars)],
  ["dramas_generations", request(dramas)],
]);

export const SPEECH_REQUEST: GenerationRequest = request(speech);
