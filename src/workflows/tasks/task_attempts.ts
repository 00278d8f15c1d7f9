import {
  findRequestForOperator,
  type OperatorRequest,
} from "../../domain/requests/find_requests.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { Status } from "./task.ts";

type Attempts = OperatorRequest["attempts"];

interface Row {
  attempts: Attempts;
  status: Status;
  provider: string | null;
  upstream_model: string | null;
  duration_ms: number | null;
}

/** What became of the last submission, by the status of its task. */
const OUTCOMES: Record<Status, string> = {
  queued: "submitting",
  running: "running",
  succeeded: "ok",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

/** A request of the log with every attempt at an upstream, also of the task that it created. */
export async function findRequestWithAttempts(
  sql: Queries,
  id: string,
  currency: string,
): Promise<OperatorRequest> {
  const request = await findRequestForOperator(sql, id, currency);
  if (request.task === null) return request;
  const ofTask = await findTaskAttempts(sql, request.task);
  return { ...request, attempts: [...request.attempts, ...ofTask] };
}

/** The upstreams that a task was sent to; for a drama, those of its subtasks. */
async function findTaskAttempts(sql: Queries, task: string): Promise<Attempts> {
  const rows = await sql<Row[]>`
    select attempts, status, provider, upstream_model,
           round(extract(epoch from coalesce(completed_at, now()) - submitted_at) * 1000)::float8 as duration_ms
      from task where id = ${task} or parent_id = ${task} order by id`;
  return rows.flatMap(({ attempts, status, provider, upstream_model, duration_ms }) =>
    provider === null || upstream_model === null || duration_ms === null ? attempts : [
      ...attempts,
      { provider, model: upstream_model, outcome: OUTCOMES[status], duration_ms },
    ]
  );
}
