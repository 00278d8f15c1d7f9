import type { ConfigStore } from "../platform/config/config_store.ts";
import type { HealthCheck } from "../http/health.ts";
import type { Queue } from "../platform/queue/queue.ts";
import { type Cluster, isBehind } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import type { NodeAgreement } from "./node_agreement.ts";
import type { StorageProbe } from "../platform/database/storage_probe.ts";

interface ReadinessParts {
  database: Pick<Database, "kind">;
  cluster: Pick<Cluster, "peers">;
  agreement: Pick<NodeAgreement, "problems">;
  probe: Pick<StorageProbe, "check" | "recordFailure">;
  queue: Pick<Queue, "problem">;
}

/**
 * What `/readyz` reports. The server listens before the database is there, so parts are attached as they open; a
 * part that is not attached yet is a reason why this node is not ready.
 */
export class NodeReadiness {
  readonly #parts: Partial<ReadinessParts> = {};

  constructor(private readonly configStore: Pick<ConfigStore, "current" | "lastReload">) {}

  attach(parts: Partial<ReadinessParts>): void {
    Object.assign(this.#parts, parts);
  }

  /** A request failed because of the storage. */
  recordStorageError = (error: unknown): void => this.#parts.probe?.recordFailure(error);

  check = async (): Promise<Record<string, HealthCheck>> => ({
    database: await this.#checkDatabase(),
    queue: await this.#checkQueue(),
    config: this.#checkConfig(),
    ...this.#checkAgreement(),
  });

  /** Only reported when this node differs from the others. */
  #checkAgreement(): Record<string, HealthCheck> {
    const reasons = this.#parts.agreement?.problems() ?? [];
    return reasons.length === 0 ? {} : { nodes: { ok: false, reason: reasons.join("; ") } };
  }

  async #checkDatabase(): Promise<HealthCheck> {
    const { database, probe } = this.#parts;
    if (database === undefined) return { ok: false, reason: "the database is not open yet" };
    if (probe === undefined) return { ok: false, reason: "the database is not prepared yet" };
    const reason = await probe.check();
    return reason === null ? { ok: true, kind: database.kind } : { ok: false, reason };
  }

  async #checkQueue(): Promise<HealthCheck> {
    const { queue } = this.#parts;
    const reason = queue === undefined ? "the queue is not open yet" : await queue.problem();
    return reason === null ? { ok: true } : { ok: false, reason };
  }

  /** An invalid file leaves the previous configuration active, so the node stays ready and reports the reload. */
  #checkConfig(): HealthCheck {
    const { at, ok, issues } = this.configStore.lastReload;
    const errors = issues.filter(({ severity }) => severity === "error").length;
    return {
      ok: true,
      version: this.configStore.current.version,
      last_reload: { at, ok, errors },
      ...(isBehind(this.#parts.cluster?.peers ?? [])
        ? { notice: "other nodes run a newer configuration" }
        : {}),
    };
  }
}
