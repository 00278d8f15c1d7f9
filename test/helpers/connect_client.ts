const ROOT = new URL("../../", import.meta.url).pathname;

export interface ConnectOptions {
  readonly args?: readonly string[];
  /** The home of the person who runs it. */
  readonly home?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

interface Ended {
  readonly code: number;
  /** What it told the person. */
  readonly said: string;
  readonly output: string;
}

/** scripts/connect.ts as a person runs it; `entry` is the URL it asks them to open, if it gets that far. */
export function startConnect(site: string, options: ConnectOptions = {}): {
  entry: Promise<string>;
  ended: Promise<Ended>;
} {
  const { args = [], home, environment } = options;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "scripts/connect.ts", "--no-open", "--site", site, ...args],
    cwd: ROOT,
    // Its packages are in the cache of the real home.
    env: { ...home === undefined ? {} : { DENO_DIR: denoFolder(), HOME: home }, ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const entry = Promise.withResolvers<string>();
  const listen = async () => {
    let said = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += text;
      const address = /(http:\S+browser-auth\S+)\n/.exec(said)?.[1];
      if (address !== undefined) entry.resolve(address);
    }
    return said;
  };
  const end = async (): Promise<Ended> => {
    const [said, output, { code }] = await Promise.all([
      listen(),
      new Response(child.stdout).text(),
      child.status,
    ]);
    return { code, said, output: output.trim() };
  };
  return { entry: entry.promise, ended: end() };
}

function denoFolder(): string {
  return Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
}
