import { keepFailure, loadTarget, readCorpus } from "./corpus.ts";
import { Random } from "./random.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

const TIMEOUT_MS = 5_000;
/** Opening a target may mean a database and a gateway; closing it too. */
const OPENING_MS = 60_000;

export interface FuzzOptions {
  seed: number;
  seconds: number;
  /** Ends earlier, after so many generated inputs. */
  runs?: number;
}

export interface FuzzOutcome {
  runs: number;
  failure: FuzzFailure | null;
}

export interface FuzzFailure {
  /** Where the input is kept now. */
  file: string;
  reason: string;
}

/** Tries the kept inputs of a target, then generated ones until the time is over or one fails. */
export async function fuzz(name: string, options: FuzzOptions): Promise<FuzzOutcome> {
  const target = await loadTarget(name);
  const kept = await readCorpus(name);
  const seeds = await target.seeds?.() ?? [];
  const corpus = [...kept.map(({ bytes }) => bytes), ...seeds];
  if (corpus.length === 0) throw new Error(`target ${name} has neither kept inputs nor seeds`);
  const timeoutMs = target.timeoutMs ?? TIMEOUT_MS;
  await using thread = await openThread(name);
  let runs = 0;
  for (const input of corpus) {
    const reason = await thread.run(input, timeoutMs);
    const file = kept[runs++]?.file;
    if (reason === null) continue;
    return { runs, failure: { file: file ?? await keepFailure(name, input), reason } };
  }
  const random = new Random(options.seed);
  const end = performance.now() + options.seconds * 1000;
  const last = runs + (options.runs ?? Infinity);
  while (runs < last && performance.now() < end) {
    runs++;
    const input = target.generate(random, corpus);
    const reason = await thread.run(input, timeoutMs);
    if (reason !== null) return { runs, failure: { file: await keepFailure(name, input), reason } };
  }
  return { runs, failure: null };
}

/** Tries one file. The reason of its failure, or null. */
export async function replay(name: string, file: string): Promise<string | null> {
  const { timeoutMs = TIMEOUT_MS } = await loadTarget(name);
  await using thread = await openThread(name);
  return await thread.run(await Deno.readFile(file), timeoutMs);
}

interface Thread extends AsyncDisposable {
  /** Why the input failed, or null. */
  run(input: Uint8Array, timeoutMs: number): Promise<string | null>;
}

async function openThread(name: string): Promise<Thread> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  let isLost = false;
  async function ask(message: ToWorker, withinMs: number): Promise<string | null> {
    const answer = Promise.withResolvers<string | null>();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) =>
      answer.resolve("done" in data ? null : data.failed);
    // An error that no await waited for ends the thread.
    worker.onerror = (event) => {
      event.preventDefault();
      isLost = true;
      answer.resolve(`not caught: ${event.message}`);
    };
    const timer = setTimeout(() => {
      isLost = true;
      answer.resolve(`not done after ${withinMs} ms`);
    }, withinMs);
    worker.postMessage(message);
    const reason = await answer.promise;
    clearTimeout(timer);
    return reason;
  }
  const reason = await ask({ open: name }, OPENING_MS);
  if (reason !== null) {
    worker.terminate();
    throw new Error(`Cannot open target ${name}: ${reason}`);
  }
  return {
    run: (input, timeoutMs) => ask({ input }, timeoutMs),
    async [Symbol.asyncDispose]() {
      if (!isLost) await ask({ close: true }, OPENING_MS);
      worker.terminate();
    },
  };
}
