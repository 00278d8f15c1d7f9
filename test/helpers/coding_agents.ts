import { fileURLToPath } from "node:url";

/** What is tried, at fixed versions: a new one is tried on purpose, not by chance. */
const PACKAGES = [
  "@anthropic-ai/claude-code@2.1.197",
  "@openai/codex@0.166.0",
  "opencode-ai@1.18.18",
  "@continuedev/cli@1.5.47",
];
const FOLDER = fileURLToPath(new URL("../../.cache/agents/", import.meta.url));
const INSTALLED = `${FOLDER}installed.json`;
const TIMEOUT_MS = 120_000;

/** The folder of the agents' programs; null where they are neither in the cache nor to be had from npm. */
export async function findCodingAgents(): Promise<string | null> {
  const wanted = JSON.stringify(PACKAGES);
  const programs = `${FOLDER}node_modules/.bin`;
  await Deno.mkdir(FOLDER, { recursive: true });
  // Files of tests run at the same time: one installs, and the others wait.
  using lock = await Deno.open(`${FOLDER}lock`, { create: true, write: true });
  await lock.lock(true);
  const installed = await Deno.readTextFile(INSTALLED).catch(() => null);
  if (installed === wanted) return programs;
  try {
    const npm = new Deno.Command("npm", {
      args: ["install", "--prefix", FOLDER, "--no-save", "--no-audit", "--no-fund", ...PACKAGES],
      signal: AbortSignal.timeout(TIMEOUT_MS),
      stdout: "null",
      stderr: "null",
    });
    if (!(await npm.output()).success) return null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null; // there is no npm
    throw error;
  }
  await Deno.writeTextFile(INSTALLED, wanted);
  return programs;
}

export interface AgentRun {
  /** A command for a shell, in which the agents are programs. */
  readonly command: string;
  /** Nothing else of our own environment reaches the program: a key in it would be used. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The home of the person who runs it, and where they are. */
  readonly folder: string;
}

/** Runs an agent without a terminal; its output, or an error with it. */
export async function runAgent(
  programs: string,
  { command, environment, folder }: AgentRun,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", command],
    cwd: folder,
    clearEnv: true,
    env: { PATH: `${programs}:${Deno.env.get("PATH")}`, HOME: folder, ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (!success) throw new Error(`${command} failed: ${text}${new TextDecoder().decode(stderr)}`);
  return text;
}
