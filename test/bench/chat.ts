import { join } from "node:path";
import { median, printTable } from "./load.ts";
import { type Contestant, startContestants } from "./contestants.ts";

export interface Figures {
  rps: number;
  p50: number;
  p99: number;
}

const PAYLOAD = {
  model: "bench",
  messages: [{ role: "user", content: "Tell me something about foxes and dogs." }],
};
const ROUNDS = 3;
const SECONDS = 5;

/** Chat through everything that stands in front of one upstream, in turns, on this machine. */
export async function run(): Promise<void> {
  await using ground = await startContestants();
  const rows: Record<string, unknown>[] = [];
  for (const streaming of [false, true]) {
    for (const connections of [64, 256]) {
      const seen = new Map<Contestant, Figures[]>();
      for (let round = 0; round < ROUNDS; round++) {
        for (const contestant of ground.contestants) {
          const figures = await load(contestant, ground.folder, streaming, connections);
          seen.set(contestant, [...seen.get(contestant) ?? [], figures]);
        }
      }
      const bare = middle(seen.get(ground.contestants.find(({ id }) => id === "pass_through")!)!);
      console.log(
        `\n${streaming ? "streams of 100 events" : "whole answers"}, ${connections} connections\n`,
      );
      const table = [["", "requests/s", "of pass-through", "p50 ms", "p99 ms", "RSS MiB"]];
      for (const [contestant, figures] of seen) {
        const { rps, p50, p99 } = middle(figures);
        const rss = await rssMiB(contestant.pid);
        rows.push({
          streaming,
          connections,
          name: contestant.id,
          rps,
          p50,
          p99,
          rss,
          ratio: rps / bare.rps,
        });
        table.push([
          contestant.name,
          rps === 0 ? "fails" : rps.toFixed(0),
          (rps / bare.rps).toFixed(2),
          p50.toFixed(1),
          p99.toFixed(1),
          rss.toFixed(0),
        ]);
      }
      printTable(table);
    }
  }
  console.log("\ntime to the first byte of a stream, one at a time, median of 200\n");
  const table = [["", "ms"]];
  for (const contestant of ground.contestants) {
    const ms = await firstByte(contestant);
    rows.push({ name: contestant.id, first_byte_ms: ms });
    table.push([contestant.name, ms.toFixed(2)]);
  }
  printTable(table);
  const folder = new URL("./results/", import.meta.url);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(new URL("chat.json", folder), JSON.stringify(rows, null, 2) + "\n");
}

export function middle(figures: Figures[]): Figures {
  const of = (name: keyof Figures) => median(figures.map((one) => one[name]));
  return { rps: of("rps"), p50: of("p50"), p99: of("p99") };
}

function load(
  contestant: Contestant,
  folder: string,
  streaming: boolean,
  connections: number,
): Promise<Figures> {
  const body = { ...PAYLOAD, ...(streaming ? { stream: true } : {}) };
  return loadPosts(contestant, { folder, path: "/v1/chat/completions", body, connections });
}

export interface PostLoad {
  /** For files. */
  folder: string;
  path: string;
  body: unknown;
  connections: number;
}

/** Sends one body over and over. */
export async function loadPosts(
  contestant: Contestant,
  { folder, path, body, connections }: PostLoad,
): Promise<Figures> {
  const script = join(folder, `${contestant.id}-${crypto.randomUUID()}.lua`);
  const headers = Object.entries(contestant.headers).map(([name, value]) =>
    `wrk.headers["${name}"] = ${JSON.stringify(value)}`
  );
  await Deno.writeTextFile(
    script,
    [`wrk.method = "POST"`, `wrk.body = '${JSON.stringify(body)}'`, ...headers].join("\n"),
  );
  const wrk = (seconds: number) =>
    new Deno.Command("wrk", {
      args: [
        "-t1",
        `-c${connections}`,
        `-d${seconds}s`,
        "--latency",
        "--timeout",
        "20s",
        "-s",
        script,
        `${contestant.address}${path}`,
      ],
    }).output();
  // It was idle while the others had their turns.
  await wrk(1);
  const { stdout } = await wrk(SECONDS);
  const text = new TextDecoder().decode(stdout);
  // A contestant that cannot do it is told so, not left out.
  if (/Non-2xx|Socket errors: .*(connect|read) [1-9]/.test(text)) {
    return { rps: 0, p50: NaN, p99: NaN };
  }
  return {
    rps: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
    p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(text)?.[1]),
    p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(text)?.[1]),
  };
}

function milliseconds(text = "NaN"): number {
  const value = Number.parseFloat(text);
  return text.endsWith("us") ? value / 1000 : text.endsWith("ms") ? value : value * 1000;
}

async function firstByte({ address, headers }: Contestant): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 220; i++) {
    const from = performance.now();
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...PAYLOAD, stream: true }),
    });
    const reader = response.body!.getReader();
    await reader.read();
    if (i >= 20) times.push(performance.now() - from);
    while (!(await reader.read()).done);
  }
  return median(times);
}

async function rssMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024;
}

if (import.meta.main) await run();
