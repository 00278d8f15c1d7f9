import { dirname, join } from "node:path";

/** A copy of the project in which a file may be changed and tests run: the work tree stays as it is. */
export interface Sandbox extends AsyncDisposable {
  root: string;
  /** Runs one test file. `changed` holds the text of one file while it runs. */
  test(run: TestRun): Promise<TestResult>;
}

export interface TestRun {
  file: string;
  timeoutMs: number;
  args?: readonly string[];
  changed?: { path: string; text: string };
}

export interface TestResult {
  outcome: "passed" | "failed" | "timeout";
  seconds: number;
  output: string;
}

export interface SandboxOptions {
  /** Paths from the root of the project. */
  files: readonly string[];
  env: Record<string, string>;
  /** Ends the test that runs. */
  signal?: AbortSignal;
}

export async function makeSandbox(
  project: string,
  { files, env, signal }: SandboxOptions,
): Promise<Sandbox> {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-mutate-" });
  const root = join(folder, "project");
  const temporary = join(folder, "tmp");
  await Deno.mkdir(temporary);
  for (const file of files) {
    await Deno.mkdir(dirname(join(root, file)), { recursive: true });
    await Deno.copyFile(join(project, file), join(root, file));
  }

  async function test({ file, timeoutMs, args = [], changed }: TestRun): Promise<TestResult> {
    const target = changed && join(root, changed.path);
    const before = target && await Deno.readTextFile(target);
    if (target !== undefined) await Deno.writeTextFile(target, changed!.text);
    try {
      const command = ["test", "-A", "--no-check", "--fail-fast", ...args, file];
      const options = { cwd: root, env: { TMPDIR: temporary, ...env } };
      return await runLimited(command, options, timeoutMs, signal);
    } finally {
      if (target !== undefined) await Deno.writeTextFile(target, before!);
    }
  }

  return {
    root,
    test,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function runLimited(
  args: string[],
  options: Deno.CommandOptions,
  timeoutMs: number,
  stopping?: AbortSignal,
): Promise<TestResult> {
  const start = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args,
    ...options,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // A process group of its own: what a test has started ends with it.
    detached: true,
  }).spawn();
  let isLate = false;
  const end = () => {
    isLate = true;
    endGroup(child.pid);
  };
  const timer = setTimeout(end, timeoutMs);
  stopping?.addEventListener("abort", end);
  const { success, stdout, stderr } = await child.output();
  clearTimeout(timer);
  stopping?.removeEventListener("abort", end);
  endGroup(child.pid);
  // What was cut short says nothing about the mutant.
  stopping?.throwIfAborted();
  return {
    outcome: isLate ? "timeout" : success ? "passed" : "failed",
    seconds: (performance.now() - start) / 1000,
    output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr),
  };
}

function endGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has ended by itself, with everything it started.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
