/** Load from a second process, so that what is measured does not also measure itself. */
export interface Load {
  url: string;
  headers?: Record<string, string>;
  /** Sent with POST; without one it is a GET. */
  body?: string;
  /** Sent in turns as bearer tokens. */
  keys?: string[];
  connections: number;
  seconds: number;
}

/** Requests per second, by wrk where it is installed and by a Deno process of our own elsewhere. */
export async function requestsPerSecond(load: Load): Promise<number> {
  return await hasWrk() ? await byWrk(load) : await byDeno(load);
}

export async function generator(): Promise<string> {
  return await hasWrk() ? "wrk" : "deno fetch (install wrk for a stronger load)";
}

let wrk: boolean | undefined;

async function hasWrk(): Promise<boolean> {
  if (wrk !== undefined) return wrk;
  try {
    await new Deno.Command("wrk", { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return wrk = true;
  } catch {
    return wrk = false;
  }
}

async function byWrk(load: Load): Promise<number> {
  const { url, headers = {}, body, keys, connections, seconds } = load;
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s"];
  for (const [name, value] of Object.entries(headers)) args.push("-H", `${name}: ${value}`);
  const script = body === undefined ? null : await Deno.makeTempFile({ suffix: ".lua" });
  if (script !== null) {
    await Deno.writeTextFile(script, `wrk.method = "POST"\nwrk.body = '${body}'\n${inTurns(keys)}`);
    args.push("-s", script);
  }
  const { stdout } = await new Deno.Command("wrk", { args: [...args, url] }).output();
  if (script !== null) await Deno.remove(script);
  const text = new TextDecoder().decode(stdout);
  if (/Non-2xx/.test(text)) throw new Error(`answers that are not 2xx:\n${text}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
}

function inTurns(keys: string[] | undefined): string {
  if (keys === undefined) return "";
  return `local keys = { ${keys.map((key) => `"${key}"`).join(", ")} }
local at = 0
request = function()
  at = at % #keys + 1
  wrk.headers["authorization"] = "Bearer " .. keys[at]
  return wrk.format()
end
`;
}

async function byDeno(load: Load): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-net",
      new URL("./load_process.ts", import.meta.url).href,
      JSON.stringify(load),
    ],
  });
  const { stdout } = await child.output();
  return Number(new TextDecoder().decode(stdout));
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** Takes turns, so that a slow moment of the machine hits both; gives the medians. */
export async function takeTurns(
  rounds: number,
  ways: Record<string, () => Promise<number>>,
): Promise<Record<string, number>> {
  const seen: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) (seen[name] ??= []).push(await way());
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]));
}

export function printTable(rows: string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) {
    console.log(
      row.map((cell, at) => at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)).join(
        "  ",
      ),
    );
  }
}
