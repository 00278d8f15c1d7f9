import type { AnySchemaObject } from "ajv/dist/2020.js";
import type { GenerationBody } from "../../tasks/check_generation.ts";
import { bodySchema } from "../body_schema.ts";
import avatars from "../../../schemas/requests/avatars_generations.schema.json" with {
  type: "json",
};
import dramas from "../../../schemas/requests/dramas_generations.schema.json" with { type: "json" };
import images from "../../../schemas/requests/images_generations.schema.json" with { type: "json" };
import speech from "../../../schemas/requests/audio_speech.schema.json" with { type: "json" };
import videos from "../../../schemas/requests/videos_generations.schema.json" with { type: "json" };

export interface GenerationRequest {
  /** Its name in the API document. */
  readonly title: string;
  readonly schema: AnySchemaObject;
  readonly check: (body: unknown) => GenerationBody;
}

const request = (schema: AnySchemaObject): GenerationRequest => ({
  title: schema.title,
  schema,
  check: bodySchema<GenerationBody>(schema),
});

/** Bodies of generation endpoints, by the name a route declares. */
export const GENERATION_REQUESTS: ReadonlyMap<string, GenerationRequest> = new Map([
  ["images_generations", request(images)],
  ["videos_generations", request(videos)],
  ["avatars_generations", request(avatars)],
  ["dramas_generations", request(dramas)],
]);

export const SPEECH_REQUEST: GenerationRequest = request(speech);
