import type { Duplex } from "node:stream";
import { join } from "node:path";
import type { OpenOptions } from "./database.ts";
import { EngineFailure, type EngineLimits, EngineThread, lostEngine } from "./embedded_thread.ts";
import { sleep } from "../../lib/timers.ts";

/** Recovery writes to the log of changes: two of its files must fit before it is worth a try. */
const ROOM_BYTES = 8 * 1024 * 1024;
const RESTART_MS_MAX = 10_000;

interface EngineOptions {
  home: string;
  folder: string;
  limits: EngineLimits;
  log: OpenOptions["log"];
  onStuck: OpenOptions["onStuck"];
}

/**
 * The engine, started again when it fails: a full disk ends it in the middle of a statement, and it cannot
 * go on by itself. What it had confirmed is on disk, as after a crash of the process. While it is away every
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
    await checkRoom(options.home);
    await engine.#start();
    return engine;
  }

  connect(): Duplex {
    if (this.#thread === null) throw lostEngine(this.#reason);
    return this.#thread.connect();
  }

  /** One that is away begins at the system's time when it is back. */
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
        await checkRoom(this.options.home);
        await this.#start();
        return log.info("embedded database restarted", { folder });
      } catch (error) {
        // Room that is missing and files that cannot be opened now may be there later.
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

/** An engine that meets a full disk while it opens its files would only use up a core. */
async function checkRoom(home: string): Promise<void> {
  const path = join(home, "postgres.probe");
  try {
    await Deno.writeFile(path, new Uint8Array(ROOM_BYTES));
  } catch (error) {
    throw new EngineFailure(`its folder cannot be written to: ${(error as Error).message}`);
  } finally {
    await Deno.remove(path).catch(() => undefined);
  }
}
