import type { BodyNote } from "../domain/requests/body_note.ts";

/** The same response, whose body is noted as it is sent: JSON and streams of events. Others, such as audio, are not. */
export function noteResponse(
  response: Response,
  note: BodyNote,
): Response | Promise<Response> {
  const type = response.headers.get("content-type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  const isNoted = isStream || type.startsWith("application/json");
  if (!isNoted || response.body === null || !note.wantsResponse(response.status, isStream)) {
    return response;
  }
  note.beginResponse();
  return isStream ? noteStream(response, response.body, note) : noteWhole(response, note);
}

/** Read and built again: as a stream it would have no length. */
async function noteWhole(response: Response, note: BodyNote): Promise<Response> {
  const bytes = await response.bytes();
  note.noteResponse(bytes);
  note.endResponse();
  const { status, headers } = response;
  return new Response(bytes, { status, headers });
}

function noteStream(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  note: BodyNote,
): Response {
  const reader = body.getReader();
  const noted = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          note.noteResponse(value);
          return controller.enqueue(value);
        }
        note.endResponse();
        controller.close();
      } catch (error) {
        note.endResponse();
        controller.error(error);
      }
    },
    async cancel(reason) {
      note.endResponse();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(noted, { status, headers });
}
