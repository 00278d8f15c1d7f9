import { stripVTControlCharacters } from "node:util";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { freePort } from "../../scripts/free_port.ts";

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
const START_TRIES_MAX = 40;
const STOP_MS_MAX = 60_000;
/** Beyond every outage of a run, and what a busy machine needs. */
const READY_MS_MAX = 180_000;

/** A gateway that is started again whenever it ends, as a service manager would. */
export class GatewayNode implements AsyncDisposable {
  readonly port = freePort();
  readonly address = `http://127.0.0.1:${this.port}`;
  /** Clients choose nodes that are up; so does a load balancer. */
  state: "up" | "starting" | "down" | "paused" = "down";
  /** When it was last seen to come into service. */
  upSince = 0;
  /** Processes that ended though nothing ended them, with the last thing they said. */
  readonly exits: string[] = [];
  readonly failedStarts: string[] = [];
  starts = 0;
  readonly logs: string[] = [];
  /** The tree that the next start runs; undefined: the current one. */
  root: string | undefined;
  #process: GatewayProcess | null = null;
  #isClosed = false;

  /** Of the process that is running; null while none is. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  constructor(readonly name: string, private readonly env: Record<string, string>, root?: string) {
    this.root = root;
  }

  /** Starts it, again and again if need be, until it is ready. */
  async start(): Promise<void> {
    this.state = "starting";
    for (let tries = 0; tries < START_TRIES_MAX && !this.#isClosed; tries++) {
      const process = startProcess({ ...this.env, PORT: String(this.port) }, undefined, this.root);
      this.#process = process;
      if (await this.#becomesReady(process)) {
        this.state = "up";
        this.upSince = performance.now();
        this.starts++;
        void this.#watch(process);
        return;
      }
      await this.#end(process);
      if (this.#isClosed) return;
      this.failedStarts.push(lastWords(process.stderr()));
      await wait(500);
    }
    if (!this.#isClosed) {
      throw new Error(`${this.name} does not start: ${this.failedStarts.at(-1)}`);
    }
  }

  async #becomesReady(process: GatewayProcess): Promise<boolean> {
    let isOver = false;
    void process.ended.then(() => isOver = true);
    const until = Date.now() + READY_MS_MAX;
    while (!isOver && !this.#isClosed && Date.now() < until) {
      const res = await fetch(`${this.address}/readyz`, { signal: AbortSignal.timeout(5_000) })
        .catch(() => null);
      await res?.body?.cancel();
      if (res?.status === 200) return true;
      await wait(50);
    }
    return false;
  }

  /** A process that ends by itself is recorded, and started again. */
  async #watch(process: GatewayProcess): Promise<void> {
    const { code, signal } = await process.ended;
    if (this.#process !== process || this.#isClosed) return;
    this.exits.push(`exit ${code} ${signal ?? ""} ${lastWords(process.stderr())}`);
    await this.#end(process);
    await this.start().catch(() => {});
  }

  async kill(downMs: number): Promise<void> {
    const process = this.#take();
    this.state = "down";
    process.signal("SIGKILL");
    await this.#end(process);
    await wait(downMs);
    await this.start();
  }

  /** Ends it as an operator does, `noticeMs` after clients stopped choosing it; the result is its exit code. */
  async stop(noticeMs = 0): Promise<number | null> {
    const process = this.#take();
    this.state = "down";
    if (noticeMs > 0) await wait(noticeMs);
    process.signal("SIGTERM");
    const timer = setTimeout(() => process.signal("SIGKILL"), STOP_MS_MAX);
    const { code } = await process.ended;
    clearTimeout(timer);
    await this.#end(process);
    return code;
  }

  async pause(ms: number, over: AbortSignal): Promise<void> {
    const process = this.#process!;
    this.state = "paused";
    process.signal("SIGSTOP");
    for (const until = Date.now() + ms; Date.now() < until && !over.aborted;) await wait(100);
    process.signal("SIGCONT");
    this.state = "up";
    this.upSince = performance.now();
  }

  /** From here on its end is intended. */
  #take(): GatewayProcess {
    const process = this.#process!;
    this.#process = null;
    return process;
  }

  async #end(process: GatewayProcess): Promise<void> {
    if (this.#process === process) this.#process = null;
    await process[Symbol.asyncDispose]();
    this.logs.push(process.stderr());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#process !== null) await this.#end(this.#process);
  }
}

/** What a process that ended said about it: the first error, or else its last line. */
function lastWords(text: string): string {
  const lines = stripVTControlCharacters(text).trim().split("\n");
  return (lines.find((line) => /Error: |^error/.test(line)) ?? lines.at(-1)!).slice(0, 300);
}
