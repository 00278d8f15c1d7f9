import { z } from "zod";
import type { UpstreamReply, UpstreamTarget } from "../../../src/upstream/adapter.ts";
import type {
  JobStatus,
  MediaAdapter,
  MediaJob,
  MediaJobType,
  MediaRequest,
  MediaUsage,
} from "../../../src/upstream/media_adapter.ts";
import { kindOfStatus } from "../../dialect/faults.ts";

const Usage = z.object({ outputs: z.number(), duration_ms: z.number().optional() });

const Reply = z.object({
  id: z.string(),
  status: z.string(),
  progress: z.number().nullish(),
  outputs: z.array(
    z.union([
      z.object({ url: z.string(), mime_type: z.string() }),
      z.object({ b64: z.string(), mime_type: z.string() }),
    ]),
  ).optional(),
  usage: Usage.nullish(),
});

const Found = z.object({ data: z.array(z.object({ id: z.string() })) });

const jobs = ({ baseUrl }: UpstreamTarget, rest = "") => `${baseUrl}/media/jobs${rest}`;

/** Jobs that are submitted, polled and fetched from the URLs they report. */
const background: MediaAdapter = {
  inputs: "bytes",
  polling: { firstMs: 250, maxMs: 2_000 },
  submit: {
    write: ({ job }, target) => ({
      method: "POST",
      url: jobs(target),
      ...(job.inputs.length === 0 ? jsonBody(jobFields(job, target)) : formBody(job, target)),
    }),
    read(reply) {
      const { id } = Reply.parse(reply.body);
      return { id, status: readSeen(reply) };
    },
  },
  poll: { write: (id, target) => get(jobs(target, `/${id}`)), read: readSeen },
  cancel: {
    write: (id, target) => ({ ...get(jobs(target, `/${id}/cancel`)), method: "POST" }),
    read: readSeen,
  },
  find: {
    write: (reference, target) =>
      get(jobs(target, `?${new URLSearchParams({ reference }).toString()}`)),
    read: (reply) => Found.parse(reply.body).data[0]?.id ?? null,
  },
  fault: (status) => ({ kind: kindOfStatus(status) }),
};

/** Speech is in the response itself, as OpenAI's is. */
const speech: MediaAdapter = {
  inputs: "bytes",
  polling: { firstMs: 250, maxMs: 2_000 },
  submit: {
    write: ({ job }, target) => ({
      method: "POST",
      url: `${target.baseUrl}/audio/speech`,
      ...jsonBody({ model: target.model, input: job.prompt, ...job.parameters }),
    }),
    read({ body, mimeType, headers }) {
      if (!(body instanceof Uint8Array) || !mimeType.startsWith("audio/")) {
        throw new TypeError("The response is not audio.");
      }
      const bytes = body as Uint8Array<ArrayBuffer>;
      const durationMs = Number(headers.get("x-audio-duration-ms") ?? NaN);
      const usage = Number.isInteger(durationMs) ? { outputs: 1, durationMs } : null;
      return { id: null, status: { state: "succeeded", outputs: [{ bytes, mimeType }], usage } };
    },
  },
  fault: (status) => ({ kind: kindOfStatus(status) }),
};

export const media: Readonly<Record<MediaJobType, MediaAdapter>> = {
  image: background,
  video: background,
  avatar: background,
  speech,
};

/** An unknown status is that of a running job. */
function readSeen({ body }: UpstreamReply): JobStatus {
  const { status, progress = null, outputs = [], usage } = Reply.parse(body);
  switch (status) {
    case "succeeded":
      return {
        state: "succeeded",
        outputs: outputs.map((output) =>
          "url" in output
            ? { url: output.url, headers: {}, mimeType: output.mime_type }
            : { bytes: Uint8Array.fromBase64(output.b64), mimeType: output.mime_type }
        ),
        usage: usageOf(usage),
      };
    case "failed":
      return { state: "failed", fault: { kind: "failed" } };
    case "cancelled":
      return { state: "cancelled", usage: usageOf(usage) };
    case "queued":
      return { state: "queued", progress };
    default:
      return { state: "running", progress };
  }
}

function usageOf(usage: z.infer<typeof Usage> | null | undefined): MediaUsage | null {
  return usage ? { outputs: usage.outputs, durationMs: usage.duration_ms } : null;
}

function jobFields({ type, reference, prompt, parameters }: MediaJob, { model }: UpstreamTarget) {
  return { model, type, reference, prompt, parameters };
}

function formBody(job: MediaJob, target: UpstreamTarget): Pick<MediaRequest, "headers" | "body"> {
  const body = new FormData();
  body.set("job", JSON.stringify(jobFields(job, target)));
  for (const { role, mimeType, filename, bytes, url } of job.inputs) {
    // Without bytes, the URL makes inputs differ from each other.
    const content = bytes ?? new TextEncoder().encode(url ?? filename);
    body.append(role, new File([content], filename, { type: mimeType }));
  }
  return { headers: {}, body };
}

function jsonBody(fields: unknown): Pick<MediaRequest, "headers" | "body"> {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(fields) };
}

const get = (url: string): MediaRequest => ({ method: "GET", url, headers: {}, body: null });
