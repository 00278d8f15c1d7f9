import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { Directives } from "../directives.ts";

/** The directives that concern a job after it was accepted. */
export type JobDirectives = Pick<
  Directives,
  | "fail_at"
  | "stuck"
  | "state"
  | "backwards"
  | "no_progress"
  | "poll_status"
  | "poll_fails"
  | "outputs"
  | "duplicate"
  | "output"
  | "cancel"
  | "overstate"
  | "no_usage"
>;

const JOB_DIRECTIVES = [
  "fail_at",
  "stuck",
  "state",
  "backwards",
  "no_progress",
  "poll_status",
  "poll_fails",
  "outputs",
  "duplicate",
  "output",
  "cancel",
  "overstate",
  "no_usage",
] as const satisfies readonly (keyof JobDirectives)[];

const SimulatedJob = z.object({
  type: z.enum(["image", "video", "avatar"]),
  reference: z.string(),
  /** When it was accepted, and how long it takes. */
  startMs: z.number(),
  takesMs: z.number(),
  /** Cut to the length that is shown. */
  prompt: z.string(),
  /** Decides the colours: equal jobs look equal. */
  seed: z.string(),
  width: z.number().int().min(1).max(4096),
  height: z.number().int().min(1).max(4096),
  count: z.number().int().min(1).max(10),
  /** Length of a video; null for images. */
  lengthMs: z.number().min(1).max(600_000).nullable(),
  /** Thumbnails of the input images, in base64. */
  images: z.array(z.string()),
  /** Id of an avatar's audio. The audio itself is in memory only: after a restart avatars are silent. */
  audio: z.string().nullable(),
  directives: z.custom<JobDirectives>((value) => typeof value === "object" && value !== null),
});

/** Everything there is to know about a job. */
export type SimulatedJob = Readonly<z.infer<typeof SimulatedJob>>;

/**
 * A job's id holds the whole job. Its status and outputs follow from the id alone, in another process too
 * and after a restart.
 */
export function idOf(job: SimulatedJob): string {
  const packed = new Uint8Array(deflateRawSync(JSON.stringify(job), { level: 9 }));
  return `job_${packed.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

/** Null for a text that is not the id of a job. */
export function jobOf(id: string): SimulatedJob | null {
  if (!id.startsWith("job_")) return null;
  try {
    const packed = Uint8Array.fromBase64(id.slice(4), { alphabet: "base64url" });
    return SimulatedJob.parse(
      JSON.parse(inflateRawSync(packed, { maxOutputLength: 65_536 }).toString()),
    );
  } catch {
    // Not base64 (SyntaxError), not deflated (zlib's errors) or not a job (ZodError).
    return null;
  }
}

export function jobDirectives(directives: Directives): JobDirectives {
  return Object.fromEntries(
    JOB_DIRECTIVES.flatMap((name) =>
      directives[name] === undefined ? [] : [[name, directives[name]]]
    ),
  );
}

export type JobState =
  | { readonly status: "succeeded" | "failed" }
  /** `status` is one of the simulator's or the one of the directive `state`. */
  | { readonly status: string; readonly progress: number | null };

/** The state of a job that was not cancelled, at a time. */
export function stateAt(job: SimulatedJob, nowMs: number): JobState {
  const { startMs, takesMs, directives } = job;
  const percent = takesMs === 0 ? 100 : Math.max(0, (nowMs - startMs) * 100 / takesMs);
  if (directives.fail_at !== undefined && percent >= directives.fail_at) {
    return { status: "failed" };
  }
  if (directives.stuck === undefined && percent >= 100) return { status: "succeeded" };
  const reached = Math.floor(Math.min(percent, directives.stuck ?? 99));
  return {
    status: directives.state ?? (reached < 5 ? "queued" : "running"),
    progress: directives.no_progress ? null : directives.backwards ? 99 - reached : reached,
  };
}

export function outputCount({ count, directives }: SimulatedJob): number {
  return directives.outputs ?? count;
}
