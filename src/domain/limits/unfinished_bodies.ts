const unfinished = new WeakSet<Request>();

/** Says that a chunked body is being read; `finishBody` says that its end was reached. */
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
 * The same answer, after which the connection is closed. After a usual one Deno's server reads the rest of a
 * chunked body in one go to use the connection again: half a million small chunks block the thread for
 * minutes (Deno 2.9.5). It gives that up when the answer's own stream fails, and all of the answer is sent by then.
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
      // At once: a client that hangs up first has the rest of its body read after all.
      controller.error("connection closed: the request body was not read to its end");
    },
  });
  return new Response(stream, { status: response.status, headers });
}
