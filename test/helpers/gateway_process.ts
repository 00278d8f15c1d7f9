import { freePort } from "../../scripts/free_port.ts";

/** A gateway as its own process, as an operator starts it. */
export interface GatewayProcess extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  /** What it printed so far. */
  stdout(): string;
  stderr(): string;
  signal(signal: Deno.Signal): void;
  readonly ended: Promise<Deno.CommandStatus>;
  /** Waits until a pattern is printed, on either stream. */
  says(pattern: RegExp, seconds?: number): Promise<RegExpExecArray>;
}

const ROOT = new URL("../../", import.meta.url).pathname;

const MAIN = ["run", "-A", "--no-check", "--v8-flags=--no-memory-reducer", "src/main.ts"];

export function startProcess(
  env: Record<string, string>,
  args: string[] = MAIN,
  root: string = ROOT,
): GatewayProcess {
  const port = env.PORT ?? String(freePort());
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { PORT: port, LOG_FORMAT: "json", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const out = { stdout: "", stderr: "" };
  const reading = Promise.all([gather(child.stdout, "stdout"), gather(child.stderr, "stderr")]);
  async function gather(stream: ReadableStream<Uint8Array>, name: keyof typeof out) {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) out[name] += text;
  }
  let isOver = false;
  const ended = child.status.then((status) => (isOver = true, status));
  return {
    address: `http://127.0.0.1:${port}`,
    pid: child.pid,
    stdout: () => out.stdout,
    stderr: () => out.stderr,
    signal: (signal) => child.kill(signal),
    ended,
    async says(pattern, seconds = 120) {
      for (let waited = 0; waited < seconds * 1000; waited += 20) {
        const found = pattern.exec(out.stdout) ?? pattern.exec(out.stderr);
        if (found !== null) return found;
        if (isOver) await reading;
        const last = isOver ? pattern.exec(out.stdout + out.stderr) : null;
        if (last !== null) return last;
        if (isOver) break;
        await new Promise((resume) => setTimeout(resume, 20));
      }
      throw new Error(`never said ${pattern}:\n${out.stdout}\n${out.stderr}`);
    },
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill("SIGKILL");
      await ended;
      await reading;
    },
  };
}
