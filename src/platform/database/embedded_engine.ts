import type { Duplex } from "node:stream";
import { join } from "node:path";
import type { OpenOptions } from "./database.ts";
import { EngineFailure, type EngineLimits, EngineThread, lostEngine } from "./embedded_thread.ts";
import { sleep } from "../../lib/timers.ts";

/** Recovery writes to the WAL: there must be space for two of its files. */
const SPACE_BYTES = 8 * 1024 * 1024;
const RESTART_MS_MAX = 10_000;

interface EngineOptions {
  home: string;
  folder: string;
  limits: EngineLimits;
  log: OpenOptions["log"];
  onStuck: OpenOptions["onStuck"];
}

/**
 * The engine, restarted when it fails: a full disk ends it in the middle of a statement, and it cannot
 * continue. Confirmed transactions are on disk, as after a crash of the process. While it is down, every
 * connection is refused at once.
 */
export class Engine {
  #thread: EngineThread | null = null;
  #reason = "it has ended";
  readonly #closing = new AbortController();
  #restarting: Promise<void> = Promise.resolve();

  private constructor(private readonly options: EngineOptions) {}

  static async start(options: EngineOptions): Promise<Engine> {
    const engine = new Engine(options);
    await checkSpace(options.home);
    await engine.#start();
    return engine;
  }

  connect(): Duplex {
    if (this.#thread === null) throw lostEngine(this.#reason);
    return this.#thread.connect();
  }

  async copyTo(folder: string): Promise<void> {
    if (this.#thread === null) throw lostEngine(this.#reason);
    await this.#thread.copyTo(folder);
  }

  /** After a restart the engine's clock begins at the system time. */
  moveClock(ms: number): void {
    this.#thread?.clock.move(ms);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#thread?.close();
    await this.#restarting;
  }

  async #start(): Promise<void> {
    const { folder, limits } = this.options;
    this.#thread = await EngineThread.start(folder, limits, {
      onLost: (reason) => this.#lose(reason),
      signal: this.#closing.signal,
    });
  }

  #lose(reason: string): void {
    const { folder, log } = this.options;
    this.#thread = null;
    this.#reason = reason;
    log.info("embedded database failed, restarting", { folder, reason });
    if (!this.#closing.signal.aborted) this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    const { folder, limits, log } = this.options;
    let delayMs = limits.restartMs;
    while (true) {
      await this.#pause(delayMs);
      if (this.#closing.signal.aborted) return;
      try {
        await checkSpace(this.options.home);
        await this.#start();
        return log.info("embedded database restarted", { folder });
      } catch (error) {
        // Missing space and files that cannot be opened may be available later.
        const reason = (error as Error).message;
        if (this.#closing.signal.aborted) return;
        if (reason !== this.#reason) {
          log.info("embedded database cannot restart yet", { folder, reason });
        }
        this.#reason = reason;
        if (error instanceof EngineFailure && error.isStuck) this.options.onStuck?.();
        delayMs = Math.min(RESTART_MS_MAX, delayMs * 2);
      }
    }
  }

  /** Ends early when the engine is closed. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    await sleep(ms, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }
}

/** An engine that finds a full disk while it opens its files would run in an endless loop. */
async function checkSpace(home: string): Promise<void> {
  const path = join(home, "postgres.probe");
  try {
    await Deno.writeFile(path, new Uint8Array(SPACE_BYTES));
  } catch (error) {
    throw new EngineFailure(`its folder cannot be written to: ${(error as Error).message}`);
  } finally {
    // It does not exist if the write failed; if it cannot be removed, the next check overwrites it.
    await Deno.remove(path).catch(() => undefined);
  }
}
