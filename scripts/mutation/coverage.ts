import { join } from "node:path";
import type { Sandbox } from "./sandbox.ts";

/** What one run of a test file without a mutant shows. */
export interface Reach {
  seconds: number;
  passes: boolean;
  /** Lines it executed, by path from the root of the project. */
  lines: Record<string, number[]>;
}

const TIMEOUT_MS = 300_000;

export async function measureReach(sandbox: Sandbox, file: string): Promise<Reach> {
  const folder = await Deno.makeTempDir({ dir: sandbox.root, prefix: "coverage-" });
  try {
    const { outcome, seconds } = await sandbox.test({
      file,
      timeoutMs: TIMEOUT_MS,
      args: [`--coverage=${folder}`, "--coverage-raw-data-only"],
    });
    const passes = outcome === "passed";
    return { seconds, passes, lines: passes ? await readLines(sandbox.root, folder) : {} };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readLines(root: string, folder: string): Promise<Record<string, number[]>> {
  const report = join(folder, "lcov.info");
  await new Deno.Command(Deno.execPath(), {
    args: ["coverage", "--lcov", `--output=${report}`, `--include=^file://${root}/src/`, folder],
    cwd: root,
    stdout: "null",
    stderr: "null",
  }).output();
  // Without a file when the test executes nothing of src/.
  const text = await Deno.readTextFile(report).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  return executedLines(text, root);
}

/**
 * Reads a report in the format of lcov. It counts a line as often as that part of it that ran least: in
 * `if (done) return;` the return. A line is executed, too, when a branch on it was, or when the line before was.
 */
export function executedLines(report: string, root: string): Record<string, number[]> {
  const lines: Record<string, number[]> = {};
  for (const part of report.split("end_of_record")) {
    const path = /^SF:(.*)$/m.exec(part)?.[1]?.slice(root.length + 1);
    if (path === undefined) continue;
    const taken = new Set(
      [...part.matchAll(/^BRDA:(\d+),\d+,\d+,[1-9]/gm)].map(([, line]) => line!),
    );
    let wasExecuted = false;
    lines[path] = [...part.matchAll(/^DA:(\d+),(\d+)/gm)].filter(([, line, count]) => {
      const isExecuted = count !== "0" || taken.has(line!);
      const isReached = isExecuted || wasExecuted;
      wasExecuted = isExecuted;
      return isReached;
    }).map(([, line]) => Number(line));
  }
  return lines;
}
