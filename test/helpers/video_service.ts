import { mp4Of } from "./media.ts";

/** A service that makes videos for who has its key, and none before it is told to. */
export interface VideoService extends AsyncDisposable {
  readonly address: string;
  /** Jobs handed in, by our reference. */
  readonly submissions: string[];
  /** Ids of jobs that were cancelled. */
  readonly cancelled: string[];
  /** Looks at jobs so far. */
  looks(): number;
  /** Requests without the key. */
  refused(): number;
  /** Lets all jobs be done. */
  finish(): void;
  /** Its description, as a provider file. */
  readonly description: string;
}

export const VIDEO_KEY = "canary-key-of-the-video-service";

export function serveVideos(): VideoService {
  const submissions: string[] = [];
  const cancelled: string[] = [];
  let isFinished = false;
  let looks = 0;
  let refused = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request): Promise<Response> => {
      const [, kind, id] = new URL(request.url).pathname.split("/");
      if (kind === "files") return new Response(mp4Of(2000));
      if (request.headers.get("x-video-key") !== VIDEO_KEY) {
        await request.body?.cancel();
        refused++;
        return Response.json({ problem: "key" }, { status: 401 });
      }
      if (request.method === "POST") {
        const { reference } = await request.json();
        submissions.push(reference);
        return Response.json({ id: `v${submissions.length}` });
      }
      if (request.method === "DELETE") {
        cancelled.push(id!);
        return Response.json({});
      }
      looks++;
      return Response.json(
        cancelled.includes(id!)
          ? { state: "stopped" }
          : isFinished
          ? { state: "done", seconds: 2, file: `${address}/files/${id}` }
          : { state: "working" },
      );
    },
  );
  const address = `http://127.0.0.1:${server.addr.port}`;
  return {
    address,
    submissions,
    cancelled,
    looks: () => looks,
    refused: () => refused,
    finish: () => isFinished = true,
    description: `
name: Videos
base_url: ${address}
auth: { header: X-Video-Key }
media:
  video:
    polling: { first_seconds: 0.1, max_seconds: 0.2 }
    submit: { path: /jobs, body: { reference: =reference } }
    id: =id
    poll: { path: "/jobs/{id}" }
    state: { at: =state, running: working, succeeded: done, cancelled: stopped }
    outputs: { url: =file }
    usage: { seconds: =seconds }
    cancel: { method: DELETE, path: "/jobs/{id}", confirms: true }
`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const ENTRY = (model: string, price: string) =>
  `{ model: ${model}, billing_type: duration, price: "${price}", unit: second }`;
const VIDEO = (provider: string) => `
  - id: video-model
    name: Video
    type: video
    capabilities: [text_to_video]
    limits: { durations: [2], aspect_ratios: ["1:1"] }
    upstreams: [{ provider: ${provider}, model: video-1 }]`;

interface Parts {
  name?: string;
  storage?: string;
  /** The variable that the key stands in. */
  key?: string;
}

/** Videos of the service at 0.10 a second, and a key that stands in the environment. */
export function videoConfig({ name = "Videos", storage = "", key = "VIDEO_KEY" }: Parts = {}) {
  return `
service: { name: ${name}, currency: EUR }
outbound: { allow_private: true }
${storage}
providers:
  videos: { adapter: ./videos.yaml, api_key: "\${${key}}" }
models:${VIDEO("videos")}
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [${ENTRY("video-model", "0.10")}]
`;
}

/** Without the service; with the model only where it has a price, from another provider. */
export function laterConfig(
  { name = "Later", storage = "", price }: Parts & { price?: string } = {},
) {
  return `
service: { name: ${name}, currency: EUR }
outbound: { allow_private: true }
${storage}
providers: { other: { adapter: simulator } }
models:
  - { id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: other }] }${
    price === undefined ? "" : VIDEO("other")
  }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
      - { model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }
${price === undefined ? "" : `      - ${ENTRY("video-model", price)}`}
`;
}

export const VIDEO_REQUEST = {
  model: "video-model",
  prompt: "a tide",
  duration: 2,
  aspect_ratio: "1:1",
};
