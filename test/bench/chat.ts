import { join } from "node:path";
import { median, printTable } from "./load.ts";
import { type Contestant, startContestants } from "./contestants.ts";
import { processorTime } from "./processor_time.ts";

interface Figures {
  rps: number;
  p50: number;
  p99: number;
  /** Processor time of a request in the contestant and in Postgres, in microseconds. */
  ownMicros: number;
  postgresMicros: number;
}

type Ground = Awaited<ReturnType<typeof startContestants>>;

/** One row of the tables. */
interface Case {
  streaming: boolean;
  connections: number;
}

const PAYLOAD = {
  model: "bench",
  messages: [{ role: "user", content: "Tell me something about foxes and dogs." }],
};
const ROUNDS = 3;
const SECONDS = 5;
const CASES: readonly Case[] = [
  { streaming: false, connections: 1 },
  { streaming: false, connections: 64 },
  { streaming: false, connections: 256 },
  { streaming: true, connections: 64 },
  { streaming: true, connections: 256 },
];

/** Chat through everything that stands in front of one upstream, in turns, on this machine. */
export async function run(): Promise<void> {
  await using ground = await startContestants();
  const rows: Record<string, unknown>[] = [];
  for (const one of CASES) {
    const { streaming, connections } = one;
    const middles = await measure(ground, one);
    const bare = middles.get("pass_through")!;
    console.log(
      `\n${streaming ? "streams of 100 events" : "whole answers"}, ${connections} connections\n`,
    );
    const table = [[
      ...["", "requests/s", "of pass-through", "p50 ms", "p99 ms", "p99 ratio"],
      ...["own µs", "Postgres µs", "RSS MiB"],
    ]];
    for (const contestant of ground.contestants) {
      const figures = middles.get(contestant.id)!;
      const rss = await rssMiB(contestant.pid);
      const ratio = figures.rps / bare.rps;
      rows.push({ streaming, connections, name: contestant.id, ...figures, rss, ratio });
      table.push([
        contestant.name,
        figures.rps === 0 ? "fails" : figures.rps.toFixed(0),
        ratio.toFixed(2),
        figures.p50.toFixed(1),
        figures.p99.toFixed(1),
        (figures.p99 / bare.p99).toFixed(2),
        figures.ownMicros.toFixed(0),
        contestant.id.startsWith("tollgate") ? figures.postgresMicros.toFixed(0) : "",
        rss.toFixed(0),
      ]);
    }
    printTable(table);
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

/** Contestants in turns; medians by their ids. */
async function measure(ground: Ground, one: Case): Promise<Map<string, Figures>> {
  const seen = new Map<string, Figures[]>(ground.contestants.map(({ id }) => [id, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const contestant of ground.contestants) {
      seen.get(contestant.id)!.push(await load(contestant, ground, one));
    }
  }
  return new Map([...seen].map(([id, figures]) => [id, middle(figures)]));
}

function middle(figures: Figures[]): Figures {
  const of = (name: keyof Figures) => median(figures.map((one) => one[name]));
  return {
    rps: of("rps"),
    p50: of("p50"),
    p99: of("p99"),
    ownMicros: of("ownMicros"),
    postgresMicros: of("postgresMicros"),
  };
}

async function load(
  contestant: Contestant,
  { folder, postgresPid }: Ground,
  { streaming, connections }: Case,
): Promise<Figures> {
  const script = join(folder, `${contestant.id}-${streaming}.lua`);
  const body = JSON.stringify({ ...PAYLOAD, ...(streaming ? { stream: true } : {}) });
  const headers = Object.entries(contestant.headers).map(([name, value]) =>
    `wrk.headers["${name}"] = ${JSON.stringify(value)}`
  );
  await Deno.writeTextFile(
    script,
    [`wrk.method = "POST"`, `wrk.body = '${body}'`, ...headers].join("\n"),
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
        `${contestant.address}/v1/chat/completions`,
      ],
    }).output();
  // It was idle while the others had their turns.
  await wrk(1);
  const times = () => Promise.all([processorTime(contestant.pid), processorTime(postgresPid)]);
  const before = await times();
  const { stdout } = await wrk(SECONDS);
  const after = await times();
  const text = new TextDecoder().decode(stdout);
  // A contestant that cannot do it is told so, not left out.
  if (/Non-2xx|Socket errors: .*(connect|read) [1-9]/.test(text)) {
    return { rps: 0, p50: NaN, p99: NaN, ownMicros: NaN, postgresMicros: NaN };
  }
  const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
  const [ownMicros, postgresMicros] = after.map((seconds, at) =>
    (seconds - before[at]!) * 1e6 / requests
  );
  return {
    rps: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
    p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(text)?.[1]),
    p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(text)?.[1]),
    ownMicros: ownMicros!,
    postgresMicros: postgresMicros!,
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
