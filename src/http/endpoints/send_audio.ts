import type { SpeechAudio } from "../../workflows/speech/await_speech.ts";
import type { Accepted } from "./create_generation.ts";
import { noticeHeaders } from "./retrieve_model.ts";

/** Sends the audio of a finished task. */
export function sendAudio(
  { body, mimeType, bytes }: SpeechAudio,
  { model, created: { isReplay } }: Accepted,
): Response {
  return new Response(body, {
    headers: {
      "content-type": mimeType,
      "content-length": String(bytes),
      ...(isReplay ? { "idempotent-replayed": "true" } : {}),
      ...(model === null ? {} : noticeHeaders(model)),
    },
  });
}
