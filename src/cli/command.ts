import type { Settings } from "../app/environment.ts";

/** The environment and the output of a command: text for people or JSON for scripts. */
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
  /** What it calls of the admin API, such as `GET /admin/v1/accounts`; the help describes each. */
  endpoints?: readonly string[];
  options?: Record<string, { type: "string" | "boolean"; summary: string }>;
  /** Returns the exit code. */
  run(terminal: Terminal, args: string[], options: Options): Promise<number>;
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The command line is wrong; the message is shown with the usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A required argument; `name` is its name in the usage text. */
export function argument(args: string[], index: number, name: string): string {
  const value = args[index];
  if (value === undefined) throw new UsageError(`Missing argument: <${name}>.`);
  return value;
}

/** The value of a string option; undefined when it is not set. */
export function optionText(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** An object as a table of its fields; those that are null are left out. */
export function tableOf(value: object): string {
  const rows = Object.entries(value).filter(([, each]) => each !== null).map((
    [name, each],
  ) => [name, typeof each === "object" ? JSON.stringify(each) : String(each)]);
  return table(rows);
}

/** Formats rows as aligned columns. */
export function table(rows: string[][]): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row.map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : widths[column]!)).join(
      "  ",
    ).trimEnd()
  ).join("\n");
}
