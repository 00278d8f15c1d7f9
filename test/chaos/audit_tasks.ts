import type { Account, Entry } from "./client_records.ts";
import { RETRY_SECONDS } from "./config.ts";
import { amount, imagePrice, isCharge, speechPrice, videoPrice, written } from "./exact.ts";
import type { Findings } from "./findings.ts";
import type { Receipts } from "./receivers.ts";
import type { Delivery, Task } from "./records.ts";

/** A request for a task, against the tasks that bear its id. */
export function auditTaskRequest(entry: Entry, tasks: readonly Task[], findings: Findings): void {
  const name = () =>
    `${entry.id} ${entry.requestId} ${entry.status} ${
      entry.code ?? ""
    } after ${entry.attempts} attempts, ` +
    `promised ${[...entry.tasks].join(", ") || "none"}, found ${
      tasks.map(({ id }) => id).join(", ") || "none"
    }`;
  findings.expect("no_500", entry.status !== 500, name);
  const promised = [...entry.tasks];
  findings.expect(
    "task_kept",
    tasks.length <= 1 && promised.every((id) => tasks.some((task) => task.id === id)),
    name,
  );
  // Where every attempt was answered and none with 202, there must be nothing.
  if (entry.end === "refused" && entry.uncertain === 0) {
    findings.expect("errors_are_free", tasks.length === 0, name);
  }
}

/** A task by itself: it ended, and costs what it gave. */
export function auditTask(task: Task, entry: Entry | undefined, findings: Findings): void {
  const { id, status, charge, output } = task;
  const name = () => `${id} ${status} ${task.error?.code ?? ""} [${entry?.directive}]`;
  findings.expect("known_receipt", entry !== undefined, name);
  findings.expect("task_ended", status !== "queued" && status !== "running", name);
  findings.expect("hold_resolved", charge.status !== "open", name);
  const expected = status === "succeeded" ? priceOfTask(task) : 0n;
  findings.expect(
    "task_charge",
    isCharge(amount(charge.settled), expected) && (status !== "succeeded" || output.length > 0),
    () => `${name()}: ${charge.settled} taken, ${written(expected)} expected`,
  );
}

function priceOfTask({ type, charge: { usage }, output }: Task): bigint {
  switch (type) {
    case "image":
      return imagePrice(output.length);
    case "speech":
      return speechPrice(usage?.characters ?? 0);
    default:
      return videoPrice(usage?.seconds ?? 0);
  }
}

/** What the upstream counted, by the reference that every job carries. */
export function auditSubmissions(
  submissions: Record<string, number>,
  tasks: ReadonlyMap<string, { task: Task; entry: Entry | undefined }>,
  findings: Findings,
): void {
  for (const [reference, count] of Object.entries(submissions)) {
    const known = tasks.get(reference);
    findings.expect(
      "submitted_once",
      count === 1 && known !== undefined,
      () =>
        `${reference} was submitted ${count} times, task ${known?.task.status ?? "unknown"} ` +
        `[${known?.entry?.directive}]`,
    );
  }
}

/** The one event of an ended task, and what became of it. */
export function auditEvent(
  task: Task,
  { account, deliveries, events }: {
    account: Account;
    deliveries: readonly Delivery[];
    events: ReadonlyMap<string, Receipts>;
  },
  findings: Findings,
): void {
  // Speech requests name no callback_url: without an endpoint their events have no receiver.
  if (task.type === "speech" && !account.hasEndpoint && deliveries.length === 0) return;
  const ids = new Set(deliveries.map(({ event }) => event.id));
  const name = () =>
    `${task.id} ${task.status}: events ${[...ids].join(", ") || "none"}, ` +
    deliveries.map(({ id, status, reason, attempt_count }) =>
      `${id} ${status} ${reason ?? ""} after ${attempt_count}`
    ).join("; ");
  const targets = deliveries.map(({ endpoint }) => endpoint);
  const isEnded = deliveries.every(({ status, attempt_count, reason }) =>
    status === "delivered" ||
    status === "failed" && (reason !== "retries_spent" || attempt_count >= RETRY_SECONDS.length)
  );
  const isOnce = ids.size === 1 && new Set(targets).size === targets.length;
  // Without a callback_url of its own a task's event goes to the account's endpoints.
  const hasReceiver = account.hasEndpoint || deliveries.length > 0;
  findings.expect("one_event", hasReceiver && isOnce && isEnded, name);
  for (const { event, status } of deliveries) {
    const seen = events.get(event.id);
    const isTrue = event.type === `task.${task.status}` &&
      (status !== "delivered" || (seen?.accepted ?? 0) > 0) &&
      (seen === undefined || seen.taskId === task.id && seen.type === event.type);
    findings.expect("event_content", isTrue, () => `${name()}, received ${seen?.received ?? 0}`);
  }
}
