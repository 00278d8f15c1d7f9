import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { shared } from "./shared.ts";

export interface TaskFacts {
  /** Unfinished tasks, counted in the database; null when it does not answer. */
  count(): Promise<
    { queued: number; running: number; dead: number; late_seconds: number } | null
  >;
  depth(): readonly { kind: string; waiting: number; running: number }[];
}

export interface TaskMetrics {
  ended: Counter<"status">;
  steps: Histogram<"kind" | "outcome">;
}

/** What this process counts of tasks and of the queue's steps. */
export function openTaskMetrics(registry: Registry): TaskMetrics {
  const registers = [registry];
  return {
    ended: new Counter({
      name: "tollgate_tasks_ended_total",
      help: "Tasks that ended, by status.",
      labelNames: ["status"],
      registers,
    }),
    steps: new Histogram({
      name: "tollgate_queue_step_seconds",
      help: "How long steps of jobs took, by kind and outcome.",
      labelNames: ["kind", "outcome"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
  };
}

/** Gauges that are read from the database and the queue when `/metrics` is asked for. */
export function registerTaskGauges(registry: Registry, facts: TaskFacts): void {
  const registers = [registry];
  const count = shared(() => facts.count());
  new Gauge({
    name: "tollgate_tasks_late_seconds",
    help: "How long the task that waits longest has been due.",
    aggregator: "max",
    registers,
    async collect() {
      const counts = await count();
      if (counts !== null) this.set(counts.late_seconds);
    },
  });
  new Gauge({
    name: "tollgate_tasks",
    help: "Unfinished tasks by state; dead ones wait for an operator.",
    labelNames: ["state"],
    // Counted in the database: every thread reports the same number.
    aggregator: "max",
    registers,
    async collect() {
      const counts = await count();
      if (counts === null) return;
      for (const state of ["queued", "running", "dead"] as const) {
        this.set({ state }, counts[state]);
      }
    },
  });
  new Gauge({
    name: "tollgate_queue_depth",
    help: "Steps of this process by kind of job: waiting and running.",
    labelNames: ["kind", "state"],
    registers,
    collect() {
      for (const { kind, waiting, running } of facts.depth()) {
        this.set({ kind, state: "waiting" }, waiting);
        this.set({ kind, state: "running" }, running);
      }
    },
  });
}
