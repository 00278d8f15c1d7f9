import type { AnySchemaObject } from "ajv/dist/2020.js";
import {
  type ChatRequest,
  type DramaRequest,
  type EmbeddingsRequest,
  type MessagesRequest,
  REQUESTS,
  type ResponsesRequest,
} from "../../../schemas/requests.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import type { Route } from "../../platform/config/config.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import { narrowRequest } from "../narrow_request.ts";
import { type RequestBody, requestBody } from "../request_body.ts";

/** The bodies of requests that are charged: their endpoints read them, and so does POST /v1/quotes. */
export const CHAT_REQUEST: RequestBody<ChatRequest> = requestBody(REQUESTS.chat_completions, {
  nullIsAbsent: true,
});

export const MESSAGES_REQUEST: RequestBody<MessagesRequest> = requestBody(REQUESTS.messages, {
  nullIsAbsent: true,
});

export const RESPONSES_REQUEST: RequestBody<ResponsesRequest> = requestBody(REQUESTS.responses, {
  nullIsAbsent: true,
});

/** Some clients send tokens, a thousand texts at once. */
const TOKENS_MAX = 1_000_000;

export const EMBEDDINGS_REQUEST: RequestBody<EmbeddingsRequest> = requestBody(
  REQUESTS.embeddings,
  { nullIsAbsent: true, valuesMin: TOKENS_MAX },
);

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

/** The body of a generation route as configured; undefined where the configuration names no schema. */
export function generationRequest(route: Route): RequestBody<GenerationBody> | undefined {
  const named = (name: string) => GENERATIONS.find((request) => request.name === name);
  if (route.requestSchema === null) return named(route.request ?? "");
  const builtIn = named(definitionOf(route.type!).request.name);
  return builtIn && narrowRequest(builtIn, route.requestSchema, route);
}

/** Another schema may say less than a drama needs: the body must fit both. */
export function dramaRequest(route: Route): RequestBody<DramaRequest> {
  const request = generationRequest(route);
  if (request === undefined || request === DRAMA_REQUEST) return DRAMA_REQUEST;
  return { ...request, check: (body) => DRAMA_REQUEST.check(request.check(body)) };
}

/** Schemas that a generation route of the configuration may name. */
export const GENERATION_SCHEMAS: ReadonlyMap<string, AnySchemaObject> = new Map(
  GENERATIONS.map(({ name, schema }) => [name, schema]),
);
