import { z } from "zod";
import type { Queries } from "../../platform/database/database.ts";

/** What a task was asked to do, for its owner. */
export interface TaskRequest {
  /** Prompts, scripts and titles, by name. */
  readonly texts: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  /** File ids or URLs. */
  readonly inputs: readonly string[];
}

const Input = z.union([
  z.object({ file_id: z.string() }).transform(({ file_id }) => file_id),
  z.object({ url: z.string() }).transform(({ url }) => url),
]);
const MediaJob = z.object({
  prompt: z.string().nullish(),
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  inputs: z.array(Input).default([]),
});
const DramaJob = z.object({
  title: z.string().nullish(),
  script: z.string().nullish(),
  episode: z.number().nullish(),
  aspect_ratio: z.string().nullish(),
  until: z.string(),
  shots_max: z.number().nullish(),
});

/** The request of a task, as it was stored; null where there is no such task of the account. */
export async function findTaskRequest(
  sql: Queries,
  account: string,
  id: string,
): Promise<TaskRequest | null> {
  const [row] = await sql<[{ job: unknown }?]>`
    select job from task where id = ${id} and account_id = ${account}`;
  return row === undefined ? null : toTaskRequest(row.job);
}

/** Jobs of an older version may lack fields: what is missing is left out. */
export function toTaskRequest(job: unknown): TaskRequest {
  const drama = DramaJob.safeParse(job);
  if (drama.success) {
    const { title, script, until, ...parameters } = drama.data;
    return {
      texts: withoutEmpty({ title, script }),
      parameters: withoutEmpty({ ...parameters, stage: until }),
      inputs: [],
    };
  }
  const media = MediaJob.safeParse(job);
  if (!media.success) return { texts: {}, parameters: {}, inputs: [] };
  const { prompt, parameters, inputs } = media.data;
  return { texts: withoutEmpty({ prompt }), parameters, inputs };
}

function withoutEmpty<T extends string | number>(
  record: Record<string, T | null | undefined>,
): Record<string, T> {
  const kept: Record<string, T> = {};
  for (const [name, value] of Object.entries(record)) {
    if (value !== null && value !== undefined && value !== "") kept[name] = value;
  }
  return kept;
}
