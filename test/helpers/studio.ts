import { png } from "./media.ts";

/**
 * Where a job can be made to wait: before its answer, though the studio has done its part; at `accept`, before
 * the studio knows of it. A letter after the name tells one group from another: `poll`, `pollb`.
 */
export type Point = `${"accept" | "submit" | "poll" | "output"}${"" | "b"}`;

/**
 * A service that makes images, over real HTTP, as an operator would describe it in YAML. What a prompt
 * says is what happens: `hold-accept`, `hold-submit`, `hold-poll`, `hold-output` wait at that point until let go.
 */
export interface Studio extends AsyncDisposable {
  readonly address: string;
  /** How often each reference was handed in. */
  readonly submissions: Map<string, number>;
  /** How often each file was asked for. */
  readonly fetches: Map<string, number>;
  /** How many are waiting at a point. */
  waiting(point: Point): number;
  /** Lets all jobs at a point go on, and those that come later. */
  letGo(point: Point): void;
  /** The description, as a provider's YAML. */
  describe(options: { canFind: boolean }): string;
}

interface Job {
  id: string;
  reference: string;
  prompt: string;
  n: number;
}

export function openStudio(): Studio {
  const jobs = new Map<string, Job>();
  const submissions = new Map<string, number>();
  const fetches = new Map<string, number>();
  const gates = new Map<Point, PromiseWithResolvers<void> & { waiting: number }>();
  const stopping = new AbortController();
  for (const point of ["accept", "submit", "poll", "pollb", "output"] as const) {
    gates.set(point, { ...Promise.withResolvers<void>(), waiting: 0 });
  }
  const pass = async (point: string, { prompt }: Job) => {
    const held = new RegExp(`hold-(${point}b?)`).exec(prompt)?.[1] as Point | undefined;
    if (held === undefined) return;
    const gate = gates.get(held)!;
    gate.waiting++;
    await gate.promise;
    gate.waiting--;
  };
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      signal: stopping.signal,
      onListen() {},
      onError: () => gone(),
    },
    async (request): Promise<Response> => {
      const { pathname, searchParams } = new URL(request.url);
      const [, kind, id, index] = pathname.split("/");
      if (kind === "jobs" && request.method === "POST") {
        const { reference, prompt, n } = await request.json();
        count(submissions, reference);
        const job = { id: `j${jobs.size}`, reference, prompt, n };
        await pass("accept", job);
        jobs.set(job.id, job);
        await pass("submit", job);
        return Response.json({ id: job.id });
      }
      if (kind === "jobs" && id === undefined) {
        const found = [...jobs.values()].filter((job) =>
          job.reference === searchParams.get("reference")
        );
        return Response.json({ jobs: found.map((job) => ({ id: job.id })) });
      }
      const job = jobs.get(id ?? "");
      if (job === undefined) return Response.json({}, { status: 404 });
      if (kind === "jobs") {
        await pass("poll", job);
        const files = Array.from(
          { length: job.n },
          (_, at) => `http://127.0.0.1:${server.addr.port}/files/${job.id}/${at}`,
        );
        return Response.json({ state: "done", files });
      }
      count(fetches, `${job.reference}/${index}`);
      const bytes = png(64, 64);
      if (index === "0") return new Response(bytes);
      // The first half comes, the rest waits.
      return new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(bytes.slice(0, bytes.length / 2));
            await pass("output", job);
            controller.enqueue(bytes.slice(bytes.length / 2));
            controller.close();
          },
        }),
      );
    },
  );
  const gone = () => new Response(null, { status: 500 });
  const address = `http://127.0.0.1:${server.addr.port}`;
  return {
    address,
    submissions,
    fetches,
    waiting: (point) => gates.get(point)!.waiting,
    letGo: (point) => gates.get(point)!.resolve(),
    describe: ({ canFind }) => `
name: Studio
base_url: ${address}
media:
  image:
    polling: { first_seconds: 0.1, max_seconds: 0.5 }
    submit:
      path: /jobs
      body: { reference: =reference, prompt: =prompt, n: =parameters.n }
    id: =id
    poll: { path: "/jobs/{id}" }
    state: { at: =state, running: working, succeeded: done, failed: broken }
    outputs: { url: =files }
${
      canFind
        ? `    find: { path: /jobs, query: { reference: =reference }, list: /jobs, id: "=jobs[0].id" }`
        : ""
    }
`,
    async [Symbol.asyncDispose]() {
      for (const gate of gates.values()) gate.resolve();
      stopping.abort();
      await server.finished;
    },
  };
}

/** A configuration whose images come from a studio; `blind` cannot be asked what it has. */
export function studioConfig(): string {
  const model = (id: string) => `
  - id: ${id}
    name: ${id}
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64], max_count: 4 }
    upstreams: [{ provider: ${id}, model: m }]`;
  const price = (id: string) =>
    `      - { model: ${id}, billing_type: per_call, price: "0.04", unit: image }`;
  return `
service: { name: Faultgate }
limits: { default: { requests_per_minute: 100000, running_tasks: 1000 } }
outbound: { allow_private: true }
providers:
  studio: { adapter: ./studio.yaml }
  blind: { adapter: ./blind.yaml }
models:${model("studio")}${model("blind")}
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
${price("studio")}
${price("blind")}
`;
}
