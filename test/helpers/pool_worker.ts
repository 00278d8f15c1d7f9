import { serveJobs } from "../../src/lib/serve_jobs.ts";

export type PoolTestJob = {
  do: "echo" | "loop" | "fail" | "wait" | "memory" | "ask" | "ask forever";
  value?: unknown;
};

/** Does what a test asks of a worker, bad things too. */
await serveJobs(async (job: PoolTestJob, ask) => {
  switch (job.do) {
    case "loop":
      for (;;);
    case "fail":
      throw new RangeError("as asked");
    case "wait":
      await new Promise((resume) => setTimeout(resume, Number(job.value)));
      break;
    case "memory":
      for (const kept: unknown[] = [];;) kept.push(new Array(100_000).fill(Math.random()));
    case "ask":
      return await ask(job.value);
    case "ask forever":
      while (true) await ask(job.value);
  }
  return job.value;
});
