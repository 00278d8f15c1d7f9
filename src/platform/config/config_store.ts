import type { BuildCapabilities } from "./checker.ts";
import { compileConfig, compileOrThrow } from "./compile.ts";
import { describeConfig } from "./describe.ts";
import { type ConfigChange, diffConfigs } from "./diff.ts";
import { ConfigError, type ConfigFault, type Path, renderFaults } from "./faults.ts";
import { type Environment, loadYaml } from "./load.ts";
import type { Config } from "./config.ts";
import type { Log } from "../telemetry/log.ts";

/** How the last attempt to take a new declaration went. */
export interface Reload {
  at: string;
  cause: "start" | "file" | "signal" | "api";
  ok: boolean;
  version: string | null;
  faults: ConfigFault[];
  changes: ConfigChange[];
}

export interface ConfigStoreOptions {
  file: string;
  environment: Environment;
  known: BuildCapabilities;
  log: Pick<Log, "info" | "warn" | "error">;
}

/** A configuration as it was written; values of environment variables are not part of it. */
export interface ConfigText {
  readonly source: string;
  /** Texts of the provider files, by the name that the source has for each. */
  readonly files: ReadonlyMap<string, string>;
}

/** What speaks against a declaration that is good in itself. */
export interface ConfigObjection {
  path: Path;
  message: string;
  suggestion: string;
}

/** Asked of every declaration before it takes over; `before` is the one in force, null at the start. */
export type ConfigGuard = (
  config: Config,
  before: Config | null,
) => Promise<ConfigObjection | null>;

/** Faults the log shows; `check` shows them all. */
const LOGGED_MAX = 20;
const WHOLE_FILE = { severity: "error", line: 1, column: 1, length: 1, path: "" } as const;

/**
 * Keeps the plan in force. A new declaration is compiled whole and then swapped; a bad one changes
 * nothing. Whoever took `current` keeps what it took.
 */
export class ConfigStore {
  readonly #options: ConfigStoreOptions;
  readonly #listeners = new Set<(config: Config, text: ConfigText) => void>();
  readonly #guards: ConfigGuard[] = [];
  #current: Config;
  #text: ConfigText;
  #last: Reload;
  #lastChange: Reload | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(
    options: ConfigStoreOptions,
    config: Config,
    text: ConfigText,
    warnings: ConfigFault[],
  ) {
    this.#options = options;
    this.#current = config;
    this.#text = text;
    this.#last = this.#note("start", config.version, warnings, []);
    this.#warn(warnings);
  }

  /** Reads the declaration for the first time; throws `BadDeclaration` with every fault. */
  static async open(options: ConfigStoreOptions): Promise<ConfigStore> {
    const source = await readConfigText(options.file);
    const { config, warnings, files } = compileOrThrow({ ...options, source, now: Date.now() });
    return new ConfigStore(options, config, { source, files }, warnings);
  }

  get current(): Config {
    return this.#current;
  }

  /** What the plan in force was compiled from. */
  get text(): ConfigText {
    return this.#text;
  }

  /**
   * Compiles a configuration that was in force once, with the environment of this process. Null where this
   * build cannot.
   */
  compileStored({ source, files: stored }: ConfigText): Config | null {
    return compileConfig({ ...this.#options, source, stored, now: Date.now() }).config;
  }

  get lastReload(): Reload {
    return this.#last;
  }

  /** The last one that changed something: a second one of the same file has nothing to tell. */
  get lastChange(): Reload | null {
    return this.#lastChange;
  }

  /** Lets a part that knows more than the file have its say, from the declaration in force on. */
  async guard(guard: ConfigGuard): Promise<void> {
    const objection = await guard(this.#current, null);
    if (objection !== null) {
      const { file } = this.#options;
      const source = await readConfigText(file);
      throw new ConfigError(file, source, [this.#place(source, objection)]);
    }
    this.#guards.push(guard);
  }

  /** Called with every plan that takes over, and with what it was compiled from. */
  onChange(listener: (config: Config, text: ConfigText) => void): void {
    this.#listeners.add(listener);
  }

  /** Takes the declaration as it stands now. One at a time, so that the last file written wins. */
  reload(cause: Reload["cause"]): Promise<Reload> {
    const turn = this.#queue.then(() => this.#reload(cause))
      .catch((error) => this.#admit(cause, error));
    this.#queue = turn;
    return turn;
  }

  async #reload(cause: Reload["cause"]): Promise<Reload> {
    const { file, log } = this.#options;
    let source: string;
    try {
      source = await readConfigText(file);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return this.#keepOld(cause, error.source, error.faults);
    }
    const { config, faults, files } = compileConfig({ ...this.#options, source, now: Date.now() });
    if (config === null) return this.#keepOld(cause, source, faults);
    for (const guard of this.#guards) {
      const objection = await guard(config, this.#current);
      if (objection === null) continue;
      return this.#keepOld(cause, source, [...faults, this.#place(source, objection)]);
    }
    const changes = diffConfigs(describeConfig(this.#current), describeConfig(config));
    this.#last = this.#note(cause, config.version, faults, changes);
    this.#warn(faults);
    // The environment may have changed even if the file has not, so the new plan is always taken.
    this.#current = config;
    this.#text = { source, files };
    this.#tell(config);
    if (changes.length > 0) {
      this.#lastChange = this.#last;
      log.info("declaration reloaded", {
        cause,
        version: config.version,
        changes: changes.length,
      });
    }
    return this.#last;
  }

  #place(source: string, { path, ...text }: ConfigObjection): ConfigFault {
    const { file, environment } = this.#options;
    return loadYaml(file, source, environment).places.fault(path, text);
  }

  /** A mistake of ours must not end a gateway that is serving: the old plan is as good as it was. */
  #admit(cause: Reload["cause"], error: unknown): Reload {
    const message = "could not be compiled through a mistake of this build, not of the file";
    this.#options.log.error(message, {
      error: error instanceof Error ? error.stack : `${error}`,
    });
    return this.#keepOld(cause, "", [{ ...WHOLE_FILE, message }]);
  }

  /** One listener that fails must not keep the plan from the others, nor the reload from ending. */
  #tell(config: Config): void {
    for (const listener of this.#listeners) {
      try {
        listener(config, this.#text);
      } catch (error) {
        this.#options.log.error("a part did not take the new declaration", {
          error: String(error),
        });
      }
    }
  }

  #keepOld(cause: Reload["cause"], source: string, faults: ConfigFault[]): Reload {
    const { file, log } = this.#options;
    this.#last = this.#note(cause, null, faults, []);
    log.error("declaration not taken: the one before stays in force", {
      cause,
      version: this.#current.version,
      faults: faults.filter((fault) => fault.severity === "error").length,
      report: renderFaults(file, source, faults.slice(0, LOGGED_MAX)),
    });
    return this.#last;
  }

  #note(
    cause: Reload["cause"],
    version: string | null,
    faults: ConfigFault[],
    changes: ConfigChange[],
  ): Reload {
    return { at: new Date().toISOString(), cause, ok: version !== null, version, faults, changes };
  }

  #warn(faults: ConfigFault[]): void {
    const warnings = faults.filter(({ severity }) => severity === "warning");
    for (const { line, path, message } of warnings.slice(0, LOGGED_MAX)) {
      this.#options.log.warn(`${this.#options.file}:${line} ${path}: ${message}`);
    }
  }
}

/** The file's text; a file that cannot be read is a fault like any other. */
export async function readConfigText(file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Deno.readFile(file));
  } catch (error) {
    throw new ConfigError(file, "", [{ ...WHOLE_FILE, ...reason(error) }]);
  }
}

function reason(error: unknown): { message: string; suggestion?: string } {
  if (error instanceof Deno.errors.NotFound) {
    return { message: "there is no such file", suggestion: "Set GATEWAY_CONFIG, or create it." };
  }
  if (error instanceof TypeError) return { message: "the file is not UTF-8 text" };
  return { message: `cannot be read: ${error instanceof Error ? error.message : error}` };
}
