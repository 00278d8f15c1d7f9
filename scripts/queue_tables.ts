/** A table of graphile-worker, as the schema page describes it. */
export interface QueueTable {
  readonly name: string;
  readonly description: string;
  readonly bound: string;
}

/** The schema that graphile-worker keeps with `storage.queue: postgres`. */
export const QUEUE_SCHEMA = "graphile_worker";

/**
 * Its own migrations create them, on a server only: the page is made on the embedded database, so they are listed
 * here. A test compares the list with what graphile-worker creates.
 */
export const QUEUE_TABLES: readonly QueueTable[] = [
  {
    name: "_private_jobs",
    description:
      "Jobs, each the id of a task or a webhook delivery that a worker must look at. They only wake workers: what is " +
      "due is in the rows themselves, so that nothing is lost with this table.",
    bound:
      "Tasks and deliveries that wait or run: one row each. Deleted when done; those of dead workers after four hours.",
  },
  {
    name: "_private_job_queues",
    description: "Queues whose jobs run one after the other. The gateway uses none.",
    bound: "Empty.",
  },
  {
    name: "_private_tasks",
    description: "Kinds of jobs.",
    bound: "Kinds of jobs: one row each, a few.",
  },
  {
    name: "_private_known_crontabs",
    description: "Jobs at fixed times. The gateway has none.",
    bound: "Empty.",
  },
  {
    name: "migrations",
    description: "Migrations of graphile-worker that were applied.",
    bound: "Migrations of the version in use: one row each.",
  },
];
