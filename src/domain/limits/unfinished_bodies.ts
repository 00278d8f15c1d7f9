const unfinished = new WeakSet<Request>();

/** Marks a chunked body as being read; `finishBody` marks that its end was reached. */
export function beginBody(request: Request): void {
  if (request.headers.has("transfer-encoding")) unfinished.add(request);
}

export function finishBody(request: Request): void {
  unfinished.delete(request);
}

export function isUnfinished(request: Request): boolean {
  return unfinished.has(request);
}

/**
 * The same response, after which the connection is closed. After a usual one Deno's server reads the rest of a
 * chunked body in one go to use the connection again: half a million small chunks block the thread for
 * minutes (Deno 2.9.5). It does not if the response's own stream fails, and all of the response is sent by then.
 */
export async function closeAfter(response: Response): Promise<Response> {
  const bytes = await response.bytes();
  const headers = new Headers(response.headers);
  headers.set("content-length", String(bytes.length));
  let isSent = bytes.length === 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!isSent) {
        isSent = true;
        return controller.enqueue(bytes);
      }
      // At once: if the client disconnects first, the rest of its body is read after all.
      controller.error("connection closed: the request body was not read to its end");
    },
  });
  return new Response(stream, { status: response.status, headers });
}
