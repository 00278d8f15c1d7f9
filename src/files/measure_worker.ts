// Loaded before the first job, whose time does not count it.
import "mediabunny";
import { serveJobs } from "../base/serve_jobs.ts";
import { measure } from "./measure.ts";
import type { Subject } from "./measured.ts";
import type { Question } from "./probe.ts";

await serveJobs(async (subject: Subject, ask) => {
  const bytes = (question: Question) => ask(question) as Promise<Uint8Array | null>;
  const source = {
    range: async (first: number, last: number) => (await bytes({ first, last }))!,
    async *all() {
      for (let next = await bytes("next"); next !== null; next = await bytes("next")) yield next;
    },
  };
  return await measure(source, subject);
});
