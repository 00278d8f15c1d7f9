// Loaded before the first job, whose time does not count it.
import "mediabunny";
import { serveJobs } from "../../lib/serve_jobs.ts";
import { measure } from "./probe_media.ts";
import type { Subject } from "./media_facts.ts";
import type { Question } from "./media_probe.ts";

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
