import { z } from "zod";
import { parseStored } from "../../lib/stored_json.ts";
import type { ConfigStore, ConfigText } from "../../platform/config/config_store.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { TaskDeps } from "./deps.ts";
import { periodic } from "../../lib/timers.ts";

export interface ConfigVersionOptions {
  sql: Queries;
  configStore: Pick<ConfigStore, "current" | "text" | "onChange" | "compileStored">;
  log: TaskDeps["log"];
  timing?: Partial<ConfigVersionTiming>;
}

export interface ConfigVersionTiming {
  /** How often a node renews the version it serves, and removes what is not needed. */
  sweepMs: number;
  /** The newest versions stay, needed or not: an operator may want to go back to one. */
  keepNewest: number;
  /** Versions that no task needs are removed after this time; far above `sweepMs` of every node. */
  unusedSeconds: number;
}

const TIMING: ConfigVersionTiming = {
  sweepMs: 3_600_000,
  keepNewest: 20,
  unusedSeconds: 86_400,
};
/** Compiled versions in memory; others are compiled again. */
const COMPILED_MAX = 16;

interface Row {
  source: string;
  files: unknown;
}

/** Files that a configuration names, by name: their text. */
const storedFiles = z.record(z.string(), z.string());

/**
 * The configurations that tasks began under, stored with their versions. What a node serves is stored before
 * a task refers to it; what another node or an earlier process served is compiled when a task needs it.
 */
export class ConfigVersions implements AsyncDisposable {
  readonly #options: ConfigVersionOptions;
  readonly #timing: ConfigVersionTiming;
  /** Taken over, and not known to be stored. */
  readonly #unstored = new Map<string, ConfigText>();
  /** Least recently used first. Null: this build cannot compile it. */
  readonly #compiled = new Map<string, Config | null>();
  readonly #compiling = new Map<string, Promise<Config>>();
  readonly #reported = new Set<string>();
  readonly #sweeping: AsyncDisposable;

  private constructor(options: ConfigVersionOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#sweeping = periodic(() => this.#sweep(), {
      intervalMs: this.#timing.sweepMs,
      onError(error) {
        // Tried again at the next sweep; a database that is away is reported elsewhere.
        if (isStorageDown(error)) return;
        options.log.error("config version sweep failed", { error: String(error) });
      },
    });
  }

  /** Stores the configuration in force, and from then on each that takes over. */
  static async open(options: ConfigVersionOptions): Promise<ConfigVersions> {
    await using opened = new AsyncDisposableStack();
    const versions = opened.use(new ConfigVersions(options));
    const { configStore, log } = options;
    versions.#take(configStore.current, configStore.text);
    await versions.stored(configStore.current.version);
    configStore.onChange((config, text) => {
      versions.#take(config, text);
      versions.stored(config.version).catch((error) => {
        // The next task stores it, or the next sweep.
        log.warn("config version not stored", { version: config.version, error: String(error) });
      });
    });
    opened.move();
    return versions;
  }

  /**
   * Resolves when a version of this node is stored; a task that refers to it is written after that. A version
   * of an earlier configuration was stored when it took over.
   */
  async stored(version: string): Promise<void> {
    const text = this.#unstored.get(version);
    if (text === undefined) return;
    await storeConfig(this.#options.sql, version, text);
    this.#unstored.delete(version);
  }

  /** The configuration of that version; the one in force where it is not stored or cannot be compiled. */
  of(version: string): Config | Promise<Config> {
    const { current } = this.#options.configStore;
    // The same file with a new key in the environment is the same version: the new key counts.
    if (version === current.version) return current;
    const known = this.#compiled.get(version);
    if (known === undefined) return this.#load(version);
    this.#remember(version, known);
    return known ?? current;
  }

  #load(version: string): Promise<Config> {
    const running = this.#compiling.get(version);
    if (running !== undefined) return running;
    const loading = this.#read(version).finally(() => this.#compiling.delete(version));
    this.#compiling.set(version, loading);
    return loading;
  }

  async #read(version: string): Promise<Config> {
    const { sql, configStore } = this.#options;
    const [row] = await sql<Row[]>`
      select source, files from config_version where version = ${version}`;
    if (row === undefined) {
      this.#report(version, "it is not stored");
      return configStore.current;
    }
    let config: Config | null = null;
    try {
      const files = parseStored(storedFiles, "config files", row.files);
      config = configStore.compileStored({ ...row, files: new Map(Object.entries(files)) });
      if (config === null) this.#report(version, "this build cannot compile it");
    } catch (error) {
      this.#report(version, `this build cannot compile it: ${error}`);
    }
    this.#remember(version, config);
    return config ?? configStore.current;
  }

  /** Once for each version: every step of every task of it would repeat the same. */
  #report(version: string, reason: string): void {
    if (this.#reported.has(version)) return;
    this.#reported.add(version);
    const inForce = this.#options.configStore.current.version;
    this.#options.log.warn("config version of a task not usable, using the one in force", {
      version,
      in_force: inForce,
      reason,
    });
  }

  #take(config: Config, text: ConfigText): void {
    this.#unstored.set(config.version, text);
    this.#remember(config.version, config);
  }

  #remember(version: string, config: Config | null): void {
    this.#compiled.delete(version);
    this.#compiled.set(version, config);
    for (const oldest of this.#compiled.keys()) {
      if (this.#compiled.size <= COMPILED_MAX) break;
      this.#compiled.delete(oldest);
    }
  }

  async #sweep(): Promise<void> {
    const { sql, configStore, log } = this.#options;
    for (const version of [...this.#unstored.keys()]) await this.stored(version);
    await storeConfig(sql, configStore.current.version, configStore.text);
    const removed = await sweepConfigs(sql, this.#timing);
    if (removed > 0) log.info("config versions removed", { removed });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping[Symbol.asyncDispose]();
  }
}

/** Stores a version, or notes that it is still used. */
export async function storeConfig(
  sql: Queries,
  version: string,
  { source, files }: ConfigText,
): Promise<void> {
  const texts = JSON.stringify(Object.fromEntries(files));
  await sql`
    insert into config_version (version, source, files)
    values (${version}, ${source}, ${texts}::text::jsonb)
    on conflict (version) do update set last_used_at = now()`;
}

/** Removes versions that no active task needs, except the newest ones and those used lately. */
export async function sweepConfigs(
  sql: Queries,
  { keepNewest, unusedSeconds }: Pick<ConfigVersionTiming, "keepNewest" | "unusedSeconds">,
): Promise<number> {
  const { count } = await sql`
    delete from config_version c
     where c.last_used_at < now() - make_interval(secs => ${unusedSeconds})
       and c.version not in (select n.version from config_version n
                              order by n.last_used_at desc, n.created_at desc limit ${keepNewest})
       and not exists (select from task t where t.wake_at is not null and t.config_version = c.version)`;
  return count;
}
