import {
  AVATAR_REQUEST,
  DRAMA_REQUEST,
  dramaRequest,
  generationRequest,
  IMAGE_REQUEST,
  SPEECH_REQUEST,
  VIDEO_REQUEST,
} from "../endpoints/charged_requests.ts";
import { createDrama } from "../endpoints/create_drama.ts";
import { createImages } from "../endpoints/create_images.ts";
import { createGeneration } from "../endpoints/create_generation.ts";
import { createSpeech } from "../endpoints/speech.ts";
import { SPEECH_SUBMISSION, SUBMISSION } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

/** What all generation routes have in common. */
const GENERATION = {
  operation: "generation",
  method: "POST",
  auth: "api_key",
  isCharged: true,
  parameters: SUBMISSION,
  responses: { 202: json("Task", "The task. Its outputs follow when it has succeeded.") },
} as const;

export const mediaRoutes: RouteArea = {
  title: "Generation",
  routes: [
    operationRoute({
      ...GENERATION,
      serves: "image",
      path: "/images/generations",
      summary: "Create a task that generates images",
      request: IMAGE_REQUEST,
      requestFor: generationRequest,
      description:
        "With `response_format`, or `Prefer: wait`, the response waits for the images and has them in `data`, as " +
        "OpenAI's has them, beside the fields of the task.",
      responses: {
        200: json("TaskWithImages", "The task and its images, if the request waits for them."),
        ...GENERATION.responses,
      },
      example: {
        body: { model: "sim-image", prompt: "a lighthouse at dusk", size: "1024x1024", n: 1 },
      },
      handler: createImages,
    }),
    operationRoute({
      ...GENERATION,
      serves: "video",
      path: "/videos/generations",
      summary: "Create a task that generates a video",
      request: VIDEO_REQUEST,
      requestFor: generationRequest,
      example: {
        body: {
          model: "sim-video",
          prompt: "waves against the rocks",
          duration: 5,
          aspect_ratio: "16:9",
        },
      },
      handler: createGeneration,
    }),
    operationRoute({
      ...GENERATION,
      serves: "avatar",
      path: "/avatars/generations",
      summary: "Create a task that makes a portrait speak",
      request: AVATAR_REQUEST,
      requestFor: generationRequest,
      example: {
        body: {
          model: "sim-avatar",
          avatar_file_id: SAMPLE.image,
          audio_file_id: SAMPLE.audio,
        },
      },
      handler: createGeneration,
    }),
    operationRoute({
      ...GENERATION,
      serves: "drama",
      path: "/dramas/generations",
      summary: "Create a task that makes an episode of a drama",
      description:
        "A drama needs `business_id` or an `Idempotency-Key`, and for its final video a `callback_url` or a " +
        "webhook endpoint.",
      request: DRAMA_REQUEST,
      requestFor: dramaRequest,
      example: {
        body: {
          model: "sim-drama",
          title: "The Lighthouse",
          script: "Mara waits at the sea for Jon. Jon comes back with the tide.",
          characters: [{ name: "Mara" }, { name: "Jon" }],
          stage: "script",
          business_id: "lighthouse-1",
        },
      },
      handler: createDrama,
    }),
    operationRoute({
      operation: "speech",
      serves: "speech",
      method: "POST",
      path: "/audio/speech",
      auth: "api_key",
      isCharged: true,
      summary: "Convert text to speech",
      description:
        "Responds with the audio itself. With an `Idempotency-Key`, a repeated request gets the same audio and is " +
        "charged once.",
      parameters: SPEECH_SUBMISSION,
      request: SPEECH_REQUEST,
      responses: {
        200: {
          description: "The audio, in the format of the request.",
          content: { "audio/*": null },
        },
        202: json("Task", "With `Prefer: respond-async`: the task that makes the audio."),
      },
      example: { body: { model: "sim-speech", input: "The gate is open.", voice: "alma" } },
      handler: createSpeech,
    }),
  ],
};
