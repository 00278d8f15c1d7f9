import { type ChatRequest, type DramaRequest, REQUESTS } from "../../../schemas/requests.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { type RequestBody, requestBody } from "../request_body.ts";

/** The bodies of requests that are charged: their endpoints read them, and so does POST /v1/quotes. */
export const CHAT_REQUEST: RequestBody<ChatRequest> = requestBody(REQUESTS.chat_completions, {
  nullIsAbsent: true,
});

const STORED = { nullIsAbsent: true, isStored: true };
export const SPEECH_REQUEST = requestBody(REQUESTS.audio_speech, STORED);
export const IMAGE_REQUEST = requestBody(REQUESTS.images_generations, STORED);
export const VIDEO_REQUEST = requestBody(REQUESTS.videos_generations, STORED);
export const AVATAR_REQUEST = requestBody(REQUESTS.avatars_generations, STORED);
export const DRAMA_REQUEST: RequestBody<DramaRequest> = requestBody(
  REQUESTS.dramas_generations,
  STORED,
);

const GENERATIONS: readonly RequestBody<GenerationBody>[] = [
  IMAGE_REQUEST,
  VIDEO_REQUEST,
  AVATAR_REQUEST,
  DRAMA_REQUEST,
];

/** The body of a generation route, by the name of the request schema that the configuration gives. */
export function generationRequest(name: string): RequestBody<GenerationBody> | undefined {
  return GENERATIONS.find((request) => request.name === name);
}

/** Names that a generation route of the configuration may use. */
export const GENERATION_REQUEST_NAMES: readonly string[] = GENERATIONS.map(({ name }) => name);
