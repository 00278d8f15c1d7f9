const ROOT = new URL("../../", import.meta.url).pathname;

/** Runs a command of the gateway's command line as a process of its own. */
export async function runCli(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "src/cli/main.ts", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}
