import { Random } from "../fuzz/random.ts";

/** What a receiver knows of one event. */
export interface Receipts {
  received: number;
  /** Answers of 2xx. */
  accepted: number;
  taskId: string;
  type: string;
  bodies: Set<string>;
}

/** Receivers of webhooks: one that is sometimes unwell, and one that never accepts anything. */
export interface Receivers extends AsyncDisposable {
  readonly url: string;
  readonly deadUrl: string;
  readonly events: ReadonlyMap<string, Receipts>;
  misbehaves: boolean;
  requests: number;
}

const SLOW_MS = 1_000;
/** Longer than an attempt may take. */
const HANG_MS = 6_000;

export function startReceivers(seed: number): Receivers {
  const random = new Random(seed);
  const events = new Map<string, Receipts>();
  const stopping = new AbortController();
  const serve = (handler: (request: Request) => Promise<Response>) =>
    Deno.serve(
      { hostname: "127.0.0.1", port: 0, signal: stopping.signal, onListen() {}, onError },
      handler,
    );
  const sleep = (ms: number) =>
    new Promise<void>((resume) => {
      const timer = setTimeout(resume, ms);
      stopping.signal.addEventListener("abort", () => (clearTimeout(timer), resume()));
    });

  async function note(request: Request): Promise<Receipts> {
    const body = await request.text();
    const { type, data } = JSON.parse(body);
    const id = request.headers.get("webhook-id") ?? "";
    let known = events.get(id);
    if (known === undefined) {
      known = { received: 0, accepted: 0, taskId: data.task_id, type, bodies: new Set() };
      events.set(id, known);
    }
    known.received++;
    known.bodies.add(body);
    receivers.requests++;
    return known;
  }

  async function answer(request: Request): Promise<Response> {
    const event = await note(request);
    switch (receivers.misbehaves ? random.below(12) : 11) {
      case 0:
        return new Response("no", { status: 500 });
      case 1:
        return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
      case 2:
        await sleep(HANG_MS);
        return new Response(null, { status: 503 });
      case 3:
        await sleep(SLOW_MS);
    }
    event.accepted++;
    return new Response(null, { status: 204 });
  }

  const [server, dead] = [
    serve(answer),
    serve(async (request) => {
      await note(request);
      return new Response("never", { status: 500 });
    }),
  ];
  const receivers: Receivers = {
    url: `http://127.0.0.1:${server.addr.port}`,
    deadUrl: `http://127.0.0.1:${dead.addr.port}`,
    events,
    misbehaves: false,
    requests: 0,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all([server.finished, dead.finished]);
    },
  };
  return receivers;
}

/** A sender that was killed leaves half a request behind. */
function onError(): Response {
  return new Response(null, { status: 400 });
}
