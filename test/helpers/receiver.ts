/** One request as it came in. */
export interface Received {
  at: number;
  path: string;
  headers: Record<string, string>;
  body: string;
  event: { id: string; type: string; created: number; data: Record<string, unknown> };
}

/** A receiver of events: real HTTP on a port of its own. Answers 200 unless told otherwise. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** What the nth request (from 0) is answered with; a promise that never resolves hangs. */
  answer: (nth: number, received: Received) => Response | Promise<Response>;
}

export function startReceiver(): Receiver {
  const received: Received[] = [];
  const stopping = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stopping.signal, onListen() {} },
    async (request) => {
      const body = await request.text();
      const one: Received = {
        at: performance.now(),
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body,
        event: JSON.parse(body),
      };
      received.push(one);
      return await receiver.answer(received.length - 1, one);
    },
  );
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.addr.port}`,
    received,
    answer: () => new Response(null, { status: 200 }),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.finished;
    },
  };
  return receiver;
}
