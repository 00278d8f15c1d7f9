import { run } from "../../src/cli/main.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

export interface CliResult {
  code: number;
  out: string;
  err: string;
}

/** Runs a command of the gateway's command line as a process of its own. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CliResult> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "src/cli/main.ts", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}

/** Runs a command in this process, which takes no second; `text` has all that it printed, in order. */
export async function runCliHere(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CliResult & { text: string }> {
  const printed = { out: "", err: "", text: "" };
  const print = (stream: "out" | "err") => (...values: unknown[]) => {
    const line = `${values.map(String).join(" ")}\n`;
    printed[stream] += line;
    printed.text += line;
  };
  const { log, error } = console;
  Object.assign(console, { log: print("out"), error: print("err") });
  try {
    return { code: await run([...args], { NO_COLOR: "1", ...env }), ...printed };
  } finally {
    Object.assign(console, { log, error });
  }
}
