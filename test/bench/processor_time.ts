import { join } from "node:path";

/** Of a second, as Linux counts processor time in /proc. */
const TICKS = 100;

/**
 * Seconds of processor time that a process has used so far, with its threads and child processes, also those that
 * have ended; 0 where there is no /proc.
 */
export async function processorTime(pid: number): Promise<number> {
  const main = await readTicks(pid);
  if (main === null) return 0;
  let { ticks } = main;
  for await (const { name } of Deno.readDir("/proc")) {
    const child = /^\d+$/.test(name) ? await readTicks(Number(name)) : null;
    if (child?.parent === pid) ticks += child.ticks;
  }
  return ticks / TICKS;
}

/** The process id of a Postgres server, from its folder. */
export async function postgresPid(folder: string): Promise<number> {
  return Number.parseInt(await Deno.readTextFile(join(folder, "data", "postmaster.pid")));
}

async function readTicks(pid: number): Promise<{ parent: number; ticks: number } | null> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
  if (text === null) return null;
  // The name of the program, in brackets, may hold spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
  // User and system time of itself, and the same of children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
  return { parent: fields[1]!, ticks };
}
