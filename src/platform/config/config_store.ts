import type { BuildCapabilities } from "./checker.ts";
import { compileConfig, type CompiledConfig, compileOrThrow } from "./compile.ts";
import { describeConfig } from "./describe.ts";
import { type ConfigChange, diffConfigs } from "./diff.ts";
import { ConfigError, type ConfigIssue, type Path, renderIssues, sortIssues } from "./issues.ts";
import { type Environment, loadYaml } from "../../lib/yaml/load_yaml.ts";
import type { Config } from "./config.ts";
import type { Log } from "../telemetry/log.ts";

/** The result of an attempt to load the configuration file. */
export interface Reload {
  at: string;
  cause: "start" | "file" | "signal" | "api";
  ok: boolean;
  version: string | null;
  issues: ConfigIssue[];
  changes: ConfigChange[];
}

export interface ConfigStoreOptions {
  file: string;
  environment: Environment;
  capabilities: BuildCapabilities;
  log: Pick<Log, "info" | "warn" | "error">;
}

/** A configuration as written; values of environment variables are not part of it. */
export interface ConfigText {
  readonly source: string;
  /** Texts of the files next to it, by the name that the source has for each. */
  readonly files: ReadonlyMap<string, string>;
}

/** Why a valid configuration must not become active, from a `ConfigGuard`. */
export interface ConfigObjection {
  path: Path;
  message: string;
  suggestion: string;
  /** An operator may decide that it does become active. */
  canBeForced?: boolean;
}

/** Called before a configuration becomes active; `before` is the active one, null at start. */
export type ConfigGuard = (
  config: Config,
  before: Config | null,
) => Promise<readonly ConfigObjection[]>;

/** `isForced`: objections that can be forced are warnings. */
export interface ReloadOptions {
  readonly isForced?: boolean;
}

/** Issues per reload in the log; `gateway check` shows all. */
const LOGGED_MAX = 20;
const WHOLE_FILE = { severity: "error", line: 1, column: 1, length: 1, path: "" } as const;

/**
 * Holds the active configuration. A new file is compiled completely and then swapped in; a file with
 * errors changes nothing. A request keeps the configuration that it read from `current`.
 */
export class ConfigStore {
  readonly #options: ConfigStoreOptions;
  readonly #listeners = new Set<(config: Config, text: ConfigText) => void>();
  readonly #reloadListeners = new Set<() => void>();
  readonly #guards: ConfigGuard[] = [];
  #current: Config;
  #text: ConfigText;
  #watched: readonly string[];
  #last: Reload;
  #lastChange: Reload | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(
    options: ConfigStoreOptions,
    config: Config,
    text: ConfigText & { watched: readonly string[] },
    warnings: ConfigIssue[],
  ) {
    this.#options = options;
    this.#current = config;
    this.#text = { source: text.source, files: text.files };
    this.#watched = text.watched;
    this.#last = this.#recordReload("start", config.version, warnings, []);
    this.#logWarnings(warnings);
  }

  /** Reads the configuration file for the first time; throws `ConfigError` with all issues. */
  static async open(options: ConfigStoreOptions): Promise<ConfigStore> {
    const source = await readConfigText(options.file);
    const compiled = compileOrThrow({ ...options, source, now: Date.now() });
    return new ConfigStore(options, compiled.config, { source, ...compiled }, compiled.warnings);
  }

  get current(): Config {
    return this.#current;
  }

  /** The text that the active configuration was compiled from. */
  get text(): ConfigText {
    return this.#text;
  }

  /**
   * Compiles a configuration that was active before, with the environment of this process. Null when this
   * build cannot compile it.
   */
  compileStored({ source, files: stored }: ConfigText): Config | null {
    return compileConfig({ ...this.#options, source, stored, now: Date.now() }).config;
  }

  /**
   * Compiles a text without making it active, with the environment of this process; `onValue` gets every value that it
   * refers to.
   */
  compileText(
    { source, files: sent }: ConfigText,
    onValue: (value: string) => void,
  ): CompiledConfig {
    const environment = new Proxy(this.#options.environment, {
      get(variables, name) {
        const value = typeof name === "string" ? variables[name] : undefined;
        if (value !== undefined) onValue(value);
        return value;
      },
    });
    return compileConfig({ ...this.#options, environment, source, sent, now: Date.now() });
  }

  /** Files that the last attempt to load read, or tried to read: one that is broken may be mended. */
  get watchedFiles(): readonly string[] {
    return this.#watched;
  }

  get lastReload(): Reload {
    return this.#last;
  }

  /** The last reload that changed something: reloading the same file again changes nothing. */
  get lastChange(): Reload | null {
    return this.#lastChange;
  }

  /** Adds a check that needs more than the file, and applies it to the active configuration. */
  async guard(guard: ConfigGuard): Promise<void> {
    const objections = await guard(this.#current, null);
    if (objections.length > 0) {
      const { file } = this.#options;
      const source = await readConfigText(file);
      throw new ConfigError(file, source, this.issuesFor(source, objections));
    }
    this.#guards.push(guard);
  }

  /** The listener is called with every new configuration and the text it was compiled from. */
  onChange(listener: (config: Config, text: ConfigText) => void): void {
    this.#listeners.add(listener);
  }

  /** The listener is called after every attempt to load, whether it succeeded or not. */
  onReload(listener: () => void): void {
    this.#reloadListeners.add(listener);
  }

  /** Reloads the configuration file. One at a time, so that the last version of the file wins. */
  reload(cause: Reload["cause"], options: ReloadOptions = {}): Promise<Reload> {
    const result = this.#queue.then(() => this.#reload(cause, options))
      .catch((error) => this.#rejectAfterBug(cause, error))
      .finally(() => this.#reloadListeners.forEach((listener) => listener()));
    this.#queue = result;
    return result;
  }

  async #reload(cause: Reload["cause"], { isForced = false }: ReloadOptions): Promise<Reload> {
    const { file, log } = this.#options;
    let source: string;
    try {
      source = await readConfigText(file);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return this.#rejectReload(cause, error.source, error.issues);
    }
    const compiled = compileConfig({ ...this.#options, source, now: Date.now() });
    const { config, files } = compiled;
    let { issues } = compiled;
    this.#watched = compiled.watched;
    if (config === null) return this.#rejectReload(cause, source, issues);
    for (const guard of this.#guards) {
      const objections = await guard(config, this.#current);
      if (objections.length === 0) continue;
      const accepted = isForced && objections.every(({ canBeForced }) => canBeForced);
      const found = this.issuesFor(source, objections, accepted ? "warning" : "error");
      issues = sortIssues([...issues, ...found]);
      if (!accepted) return this.#rejectReload(cause, source, issues);
    }
    const changes = diffConfigs(describeConfig(this.#current), describeConfig(config));
    const wasRejected = !this.#last.ok;
    this.#last = this.#recordReload(cause, config.version, issues, changes);
    this.#logWarnings(issues);
    // Swapped in even if the file has not changed: the environment may have changed.
    this.#current = config;
    this.#text = { source, files };
    this.#notifyListeners(config);
    if (changes.length > 0) this.#lastChange = this.#last;
    // A file that was rejected and is mended is news, even if it is as it was before.
    if (changes.length > 0 || wasRejected) {
      log.info("configuration reloaded", {
        cause,
        version: config.version,
        changes: changes.length,
      });
    }
    return this.#last;
  }

  /** Objections at their places in a text. */
  issuesFor(
    source: string,
    objections: readonly ConfigObjection[],
    severity: ConfigIssue["severity"] = "error",
  ): ConfigIssue[] {
    const { sourceMap } = loadYaml(this.#options.file, source, this.#options.environment);
    return objections.map(({ path, message, suggestion }) =>
      sourceMap.issue(path, { message, suggestion, severity })
    );
  }

  /** A bug in the compiler must not stop a running gateway: the previous configuration stays active. */
  #rejectAfterBug(cause: Reload["cause"], error: unknown): Reload {
    const message = "could not be compiled because of a bug in this build, not in the file";
    this.#options.log.error("configuration compiler failed", {
      error: error instanceof Error ? error.stack : `${error}`,
    });
    return this.#rejectReload(cause, "", [{ ...WHOLE_FILE, message }]);
  }

  /** A listener that fails must not prevent the others from being called. */
  #notifyListeners(config: Config): void {
    for (const listener of this.#listeners) {
      try {
        listener(config, this.#text);
      } catch (error) {
        this.#options.log.error("configuration listener failed", {
          error: String(error),
        });
      }
    }
  }

  #rejectReload(cause: Reload["cause"], source: string, issues: ConfigIssue[]): Reload {
    const { file, log } = this.#options;
    this.#last = this.#recordReload(cause, null, issues, []);
    log.error("configuration reload failed, previous configuration stays active", {
      cause,
      version: this.#current.version,
      errors: issues.filter((issue) => issue.severity === "error").length,
      report: renderIssues(file, source, issues.slice(0, LOGGED_MAX)),
    });
    return this.#last;
  }

  #recordReload(
    cause: Reload["cause"],
    version: string | null,
    issues: ConfigIssue[],
    changes: ConfigChange[],
  ): Reload {
    return { at: new Date().toISOString(), cause, ok: version !== null, version, issues, changes };
  }

  #logWarnings(issues: ConfigIssue[]): void {
    const warnings = issues.filter(({ severity }) => severity === "warning");
    for (const { line, path, message } of warnings.slice(0, LOGGED_MAX)) {
      this.#options.log.warn("configuration warning", {
        file: this.#options.file,
        line,
        path,
        warning: message,
      });
    }
  }
}

/** The text of the file; throws `ConfigError` when it cannot be read. */
export async function readConfigText(file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Deno.readFile(file));
  } catch (error) {
    throw new ConfigError(file, "", [{ ...WHOLE_FILE, ...describeReadError(error) }]);
  }
}

function describeReadError(error: unknown): { message: string; suggestion?: string } {
  if (error instanceof Deno.errors.NotFound) {
    return { message: "the file does not exist", suggestion: "Set GATEWAY_CONFIG, or create it." };
  }
  if (error instanceof TypeError) return { message: "the file is not UTF-8 text" };
  return { message: `cannot be read: ${error instanceof Error ? error.message : error}` };
}
