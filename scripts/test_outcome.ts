/** Reads from the output of `deno test` what passed and what failed. */
import { stripVTControlCharacters } from "node:util";

export interface TestOutcome {
  passed: number;
  failed: number;
  /** What `deno test` printed about the tests that failed. */
  reports: string[];
  /** Files that failed beside others and passed alone. */
  unstable: string[];
}

const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed/m;
/** Of one run. */
const REPORT_CHARACTERS_MAX = 20_000;
/** A failure here is a finding even if a second run passes: money must hold under every load. */
const NEVER_REPEATED = /^(?:\.cache\/tests\/)?(?:src[/.]domain|test[/.]ledger)[/.]/;
/** More failures than this are not the machine's doing. */
const REPEATED_FILES_MAX = 5;

export const noTests = (): TestOutcome => ({ passed: 0, failed: 0, reports: [], unstable: [] });

export function addOutcome(total: TestOutcome, more: TestOutcome): void {
  total.passed += more.passed;
  total.failed += more.failed;
  total.reports.push(...more.reports);
  total.unstable.push(...more.unstable);
}

/** What a finished `deno test` says of itself. */
export function readOutcome(
  output: string,
  isSuccess: boolean,
): TestOutcome & { files: string[] } {
  const text = stripVTControlCharacters(output);
  const counts = SUMMARY.exec(text);
  const passed = Number(counts?.[1] ?? 0);
  const failed = Number(counts?.[2] ?? 0);
  if (isSuccess) return { ...noTests(), passed, failed, files: [] };
  const start = text.indexOf("\n ERRORS \n");
  const report = (start === -1 ? text.slice(-REPORT_CHARACTERS_MAX) : text.slice(start))
    .slice(0, REPORT_CHARACTERS_MAX);
  // By the file that ran, not by where its test is written: a helper may have called `Deno.test`.
  const lines = /^\.\/(\S+) => .* FAILED \(|^\.\/(\S+) \(uncaught error\)$/gm;
  const files = [...text.matchAll(lines)].map(([, test, module]) => test ?? module!);
  // A file that does not compile fails without being counted.
  return {
    passed,
    failed: Math.max(failed, 1),
    reports: [report],
    unstable: [],
    files: [...new Set(files)],
  };
}

/**
 * Decides after a failed run which files run again, alone: where processes, browsers and clocks meet on a busy
 * machine a test may fail for want of time. It is then named as unstable, not passed over.
 */
export function filesToRepeat(files: readonly string[]): readonly string[] {
  const isRepeated = files.length > 0 && files.length <= REPEATED_FILES_MAX &&
    !files.some((file) => NEVER_REPEATED.test(file));
  return isRepeated ? files : [];
}
