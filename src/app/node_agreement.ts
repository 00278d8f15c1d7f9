import { type IdentifiedStore, identifyStore } from "../domain/files/identify_store.ts";
import { sleep } from "../lib/timers.ts";
import {
  disagreements,
  fingerprint,
  type NodeFingerprints,
} from "../platform/cluster/agreement.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { Config } from "../platform/config/config.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { isStorageDown } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Settings } from "./environment.ts";

interface Deps {
  database: Database;
  configStore: ConfigStore;
  log: Log;
}

interface Options extends Pick<Settings, "dataDir" | "secretsKeys" | "isDrill"> {
  adminToken: string;
}

const RETRY_MS = 1_000;

/**
 * Whether this node may serve beside the others of its database: the same secrets, the same files. What differs
 * would be noticed much later, as a webhook that cannot be signed or a result that is not there.
 */
export class NodeAgreement {
  readonly #secrets: Pick<NodeFingerprints, "secrets_keys" | "admin_token">;
  #store: IdentifiedStore;
  #cluster: Pick<Cluster, "earlierNodes"> | null = null;

  private constructor(
    private readonly deps: Deps,
    private readonly options: Options,
    store: IdentifiedStore,
  ) {
    this.#secrets = {
      secrets_keys: options.secretsKeys.map(fingerprint),
      admin_token: fingerprint(options.adminToken),
    };
    this.#store = store;
  }

  static async open(deps: Deps, options: Options): Promise<NodeAgreement> {
    const { storage } = deps.configStore.current;
    const store = await identify(deps, options, storage);
    const agreement = new NodeAgreement(deps, options, store);
    deps.configStore.onChange(({ storage }) => void agreement.#identifyAgain(storage));
    return agreement;
  }

  fingerprints = (): NodeFingerprints => ({ ...this.#secrets, file_store: this.#store.name });

  /** Why this node must not serve. A drill may be without the files. */
  problems(): string[] {
    if (this.options.isDrill) return [];
    const own = this.fingerprints();
    const reasons = this.#cluster?.earlierNodes.flatMap((node) => disagreements(own, node)) ?? [];
    return [
      ...new Set([...(this.#store.problem === null ? [] : [this.#store.problem]), ...reasons]),
    ];
  }

  /** Waits until this node agrees with the others. Until then it has no part in their work. */
  async reached(cluster: Pick<Cluster, "earlierNodes">): Promise<void> {
    this.#cluster = cluster;
    let reasons = this.problems();
    if (reasons.length === 0) return;
    for (let logged = ""; reasons.length > 0; reasons = this.problems()) {
      // Once for each state: an operator who fixes one reason sees which ones remain.
      if (reasons.join() !== logged) {
        this.deps.log.error("node differs from the others, not ready", { reasons });
      }
      logged = reasons.join();
      await sleep(RETRY_MS);
      await this.#identifyAgain(this.deps.configStore.current.storage);
    }
    this.deps.log.info("node agrees with the others");
  }

  async #identifyAgain(storage: Config["storage"]): Promise<void> {
    try {
      this.#store = await identify(this.deps, this.options, storage);
    } catch (error) {
      // A database outage is reported by the readiness probe.
      if (!isStorageDown(error)) this.deps.log.error("file store not identified", { error });
    }
  }
}

/** The embedded database has one node, and its files are beside it. */
function identify(
  { database }: Deps,
  { dataDir }: Options,
  storage: Config["storage"],
): Promise<IdentifiedStore> {
  if (database.kind === "embedded") return Promise.resolve({ name: "embedded", problem: null });
  return identifyStore(database.sql, dataDir, storage);
}
