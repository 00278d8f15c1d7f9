import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { shared } from "./shared.ts";

/** Attempts to deliver events. */
export interface DeliveryMetrics {
  attempts: Counter<"outcome">;
  seconds: Histogram;
}

export interface DeliveryFacts {
  sending(): number;
  /** Called when metrics are collected; null while the database is down. */
  count(): Promise<{ pending: number; disabled: number } | null>;
}

export function openDeliveryMetrics(registry: Registry, facts: DeliveryFacts): DeliveryMetrics {
  const registers = [registry];
  new Gauge({
    name: "tollgate_webhook_attempts_in_flight",
    help: "Attempts at receivers under way in this process.",
    registers,
    collect() {
      this.set(facts.sending());
    },
  });
  const count = shared(() => facts.count());
  new Gauge({
    name: "tollgate_webhook_endpoints_disabled",
    help: "Endpoints disabled because they were gone or kept failing.",
    aggregator: "max",
    registers,
    async collect() {
      const counted = await count();
      if (counted !== null) this.set(counted.disabled);
    },
  });
  new Gauge({
    name: "tollgate_webhook_deliveries_pending",
    help: "Deliveries that wait for an attempt, on all nodes.",
    aggregator: "max",
    registers,
    async collect() {
      const counted = await count();
      if (counted !== null) this.set(counted.pending);
    },
  });
  return {
    attempts: new Counter({
      name: "tollgate_webhook_attempts_total",
      help: "Attempts to deliver an event, by what they led to.",
      labelNames: ["outcome"],
      registers,
    }),
    seconds: new Histogram({
      name: "tollgate_webhook_attempt_seconds",
      help: "Time until a receiver answered, or was given up.",
      buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
      registers,
    }),
  };
}
