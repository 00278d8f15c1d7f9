import type { Settings } from "../app/environment.ts";

/** What a command gets and how it speaks: text for people, JSON for scripts, never both. */
export interface Terminal {
  settings: Settings;
  environment: Record<string, string | undefined>;
  json: boolean;
  colors: boolean;
  /** Prints the result: `value` with --json, else `text`. */
  print(value: unknown, text: string): void;
}

export interface Command {
  usage: string;
  summary: string;
  options?: Record<string, { type: "string" | "boolean"; summary: string }>;
  /** Returns the exit code. */
  run(terminal: Terminal, words: string[], options: Options): Promise<number>;
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The call itself is wrong; the message and the usage are shown. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function word(words: string[], at: number, what: string): string {
  const found = words[at];
  if (found === undefined) throw new UsageError(`Name the ${what}.`);
  return found;
}

export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Rows as columns that line up. */
export function table(rows: string[][]): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row.map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : widths[column]!)).join(
      "  ",
    ).trimEnd()
  ).join("\n");
}
