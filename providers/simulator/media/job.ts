import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { Orders } from "../directives.ts";

/** What of the orders concerns a job once it was accepted. */
export type JobOrders = Pick<
  Orders,
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

const JOB_ORDERS = [
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
] as const satisfies readonly (keyof JobOrders)[];

const Job = z.object({
  type: z.enum(["image", "video", "avatar"]),
  reference: z.string(),
  /** When it was accepted, and how long it takes. */
  startMs: z.number(),
  takesMs: z.number(),
  /** As far as it is shown. */
  prompt: z.string(),
  /** What decides the colours: the same asked twice looks the same. */
  seed: z.string(),
  width: z.number().int().min(1).max(4096),
  height: z.number().int().min(1).max(4096),
  count: z.number().int().min(1).max(10),
  /** Length of a clip; null for pictures. */
  lengthMs: z.number().min(1).max(600_000).nullable(),
  /** Small copies of the pictures it was given, in base64. */
  pictures: z.array(z.string()),
  /** Which sound it speaks with. The sound itself is not here: after a restart avatars are mute. */
  sound: z.string().nullable(),
  orders: z.custom<JobOrders>((value) => typeof value === "object" && value !== null),
});

/** One job, whole: there is nothing else to know about it. */
export type Job = Readonly<z.infer<typeof Job>>;

/**
 * A job's id is the job itself. Whoever has the id can tell how far it is and draw what comes of it:
 * another process, or this one after it was killed.
 */
export function idOf(job: Job): string {
  const packed = new Uint8Array(deflateRawSync(JSON.stringify(job), { level: 9 }));
  return `job_${packed.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

/** Null for what is no id of ours. */
export function jobOf(id: string): Job | null {
  if (!id.startsWith("job_")) return null;
  try {
    const packed = Uint8Array.fromBase64(id.slice(4), { alphabet: "base64url" });
    return Job.parse(JSON.parse(inflateRawSync(packed, { maxOutputLength: 65_536 }).toString()));
  } catch {
    return null;
  }
}

export function jobOrders(orders: Orders): JobOrders {
  return Object.fromEntries(
    JOB_ORDERS.flatMap((name) => orders[name] === undefined ? [] : [[name, orders[name]]]),
  );
}

export type JobState =
  | { readonly status: "succeeded" | "failed" }
  /** `status` is a word of the simulator's, or whichever it was told to say. */
  | { readonly status: string; readonly progress: number | null };

/** How far a job is at a time, if nobody cancels it. */
export function stateAt(job: Job, nowMs: number): JobState {
  const { startMs, takesMs, orders } = job;
  const percent = takesMs === 0 ? 100 : Math.max(0, (nowMs - startMs) * 100 / takesMs);
  if (orders.fail_at !== undefined && percent >= orders.fail_at) return { status: "failed" };
  if (orders.stuck === undefined && percent >= 100) return { status: "succeeded" };
  const reached = Math.floor(Math.min(percent, orders.stuck ?? 99));
  return {
    status: orders.state ?? (reached < 5 ? "queued" : "running"),
    progress: orders.no_progress ? null : orders.backwards ? 99 - reached : reached,
  };
}

/** How many outputs come of it. */
export function outputCount({ count, orders }: Job): number {
  return orders.outputs ?? count;
}
