import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Exemplars } from "./exemplars.ts";

/** A request that has ended, as far as metrics count it. */
export interface ServedRequest {
  readonly model: string | null;
  readonly isStream: boolean;
  readonly tokens: {
    readonly input: number;
    readonly cachedInput: number;
    readonly output: number;
    readonly reasoning: number;
  } | null;
  readonly charge: string | null;
  readonly firstByteMs: number;
  /** Null: the request is not traced. */
  readonly span: { readonly traceId: string } | null;
  readonly attempts: readonly {
    readonly provider: string;
    readonly outcome: string;
    readonly durationMs: number;
  }[];
}

/** State of one upstream's circuit breaker. */
export interface BreakerState {
  readonly provider: string;
  readonly model: string;
  readonly isOpen: boolean;
}

export interface ModelFacts {
  /** Whether a model is configured: a client may name any, and labels must not grow by that. */
  isConfigured(model: string): boolean;
  breakers(): readonly BreakerState[];
  lastReload(): { at: string; ok: boolean };
}

const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Tokens, money and times by model and provider. Returns what counts a request when it has ended. */
export function openModelMetrics(
  { registry, exemplars }: { registry: Registry; exemplars: Exemplars },
  facts: ModelFacts,
): (request: ServedRequest) => void {
  const registers = [registry];
  registerStates(registry, facts);
  const tokens = new SumsByModel<keyof NonNullable<ServedRequest["tokens"]>>();
  new Counter({
    name: "tollgate_model_tokens_total",
    help: "Tokens of chats by model and kind: input, cached_input, output, reasoning.",
    labelNames: ["model", "kind"],
    registers,
    collect() {
      for (const [model, { input, cachedInput, output, reasoning }] of tokens.take()) {
        this.inc({ model, kind: "input" }, input);
        this.inc({ model, kind: "cached_input" }, cachedInput);
        this.inc({ model, kind: "output" }, output);
        this.inc({ model, kind: "reasoning" }, reasoning);
      }
    },
  });
  const charges = new SumsByModel<"amount">();
  new Counter({
    name: "tollgate_model_charges_total",
    help: "Money taken for requests by model, in the gateway's currency; tasks are not in it.",
    labelNames: ["model"],
    registers,
    collect() {
      for (const [model, { amount }] of charges.take()) this.inc({ model }, amount);
    },
  });
  const firstByte = new Histogram({
    name: "tollgate_model_first_byte_seconds",
    help: "Time until a streamed chat began, by model.",
    labelNames: ["model"],
    buckets: BUCKETS,
    registers,
  });
  const upstream = new Histogram({
    name: "tollgate_upstream_seconds",
    help: "How long attempts of chats at upstreams took, by provider and outcome.",
    labelNames: ["provider", "outcome"],
    buckets: BUCKETS,
    registers,
  });
  const rememberFirstByte = exemplars.of("tollgate_model_first_byte_seconds", BUCKETS);
  const rememberUpstream = exemplars.of("tollgate_upstream_seconds", BUCKETS);
  return function countRequest(request) {
    const { model, isStream, tokens: used, charge, firstByteMs, attempts, span } = request;
    for (const { provider, outcome, durationMs } of attempts) {
      upstream.observe({ provider, outcome }, durationMs / 1000);
      if (span !== null) rememberUpstream({ provider, outcome }, durationMs / 1000, span.traceId);
    }
    if (model === null || used === null || !facts.isConfigured(model)) return;
    const { input, cachedInput, output, reasoning } = used;
    tokens.add(model, { input, cachedInput, output, reasoning });
    // A float, which is enough for a graph; the ledger has the exact amount.
    if (charge !== null) charges.add(model, { amount: Number(charge) });
    if (!isStream) return;
    firstByte.observe({ model }, firstByteMs / 1000);
    if (span !== null) rememberFirstByte({ model }, firstByteMs / 1000, span.traceId);
  };
}

/** What requests add between two scrapes: `Counter.inc` sorts and joins its labels, which is much for each request. */
class SumsByModel<Name extends string> {
  #sums = new Map<string, Record<Name, number>>();

  add(model: string, more: Record<Name, number>): void {
    const sums = this.#sums.get(model);
    if (sums === undefined) {
      this.#sums.set(model, more);
      return;
    }
    for (const name in more) sums[name] += more[name];
  }

  take(): Iterable<[model: string, sums: Record<Name, number>]> {
    const taken = this.#sums;
    this.#sums = new Map();
    return taken;
  }
}

function registerStates(registry: Registry, facts: ModelFacts): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_upstream_breaker_open",
    help: "1 while the circuit breaker of an upstream is open or half-open on a node, else 0.",
    labelNames: ["provider", "model"],
    aggregator: "max",
    registers,
    collect() {
      this.reset();
      for (const { provider, model, isOpen } of facts.breakers()) {
        this.set({ provider, model }, isOpen ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: "tollgate_config_reload_ok",
    help:
      "1 when the last load of the configuration file succeeded, 0 when an earlier one stays active.",
    aggregator: "min",
    registers,
    collect() {
      this.set(facts.lastReload().ok ? 1 : 0);
    },
  });
  new Gauge({
    name: "tollgate_config_reload_timestamp_seconds",
    help: "When the configuration file was last loaded or tried.",
    aggregator: "max",
    registers,
    collect() {
      this.set(Date.parse(facts.lastReload().at) / 1000);
    },
  });
}
