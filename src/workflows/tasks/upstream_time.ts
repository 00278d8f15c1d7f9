import type { Queries } from "../../platform/database/database.ts";

/** When upstreams had one task, in milliseconds ago. */
export interface WorkedTask {
  /** Of the attempts before the last one, oldest first; of a text of a drama, of all. */
  readonly durations: readonly number[];
  /** When the last attempt began; null: it has none, or it is among `durations`. */
  readonly sentMsAgo: number | null;
  /** When the task ended; 0 while it has not. */
  readonly endedMsAgo: number;
}

/** A span of time, in milliseconds ago: `from` is the larger one. */
type Span = readonly [from: number, to: number];

/**
 * How long upstreams had a task within the last `ms` milliseconds: a job from its submission until its results were
 * stored. As the database knows it, whichever node ran the task. The parts of a drama run side by side: a moment counts
 * once.
 */
export async function upstreamTimeOf(sql: Queries, task: string, ms: number): Promise<number> {
  const rows = await sql<WorkedTask[]>`
    select array(select (a ->> 'duration_ms')::float8
                   from jsonb_array_elements(attempts) with ordinality as e (a, n) order by n) as durations,
           (extract(epoch from now() - submitted_at) * 1000)::float8 as "sentMsAgo",
           (extract(epoch from now() - coalesce(completed_at, now())) * 1000)::float8 as "endedMsAgo"
      from task where id = ${task} or parent_id = ${task}`;
  return coveredMs(rows.flatMap(spansOf), ms);
}

/** An attempt that failed has no time of its own, only a duration: it ended about when the next one began. */
export function spansOf({ durations, sentMsAgo, endedMsAgo }: WorkedTask): Span[] {
  let next = sentMsAgo ?? endedMsAgo;
  const spans: Span[] = sentMsAgo === null ? [] : [[sentMsAgo, endedMsAgo]];
  for (const duration of durations.toReversed()) {
    spans.push([next + duration, next]);
    next += duration;
  }
  return spans;
}

/** How much of the last `ms` milliseconds the spans cover together. */
export function coveredMs(spans: readonly Span[], ms: number): number {
  let covered = 0;
  let upTo = ms;
  for (const [from, to] of spans.toSorted((a, b) => b[0] - a[0])) {
    const begin = Math.min(from, upTo);
    const end = Math.max(to, 0);
    if (begin <= end) continue;
    covered += begin - end;
    upTo = end;
  }
  return covered;
}
