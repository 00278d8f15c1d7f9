// Loaded before the first job, whose time does not count it.
import "mediabunny";
import { serveJobs } from "../../lib/serve_jobs.ts";
import { probeMedia } from "./probe_media.ts";
import type { MediaBytes } from "./media_facts.ts";
import type { ProbeRequest } from "./media_probe.ts";

await serveJobs(async (subject: MediaBytes, ask) => {
  const bytes = (question: ProbeRequest) => ask(question) as Promise<Uint8Array | null>;
  const source = {
    range: async (first: number, last: number) => (await bytes({ first, last }))!,
    async *all() {
      for (let next = await bytes("next"); next !== null; next = await bytes("next")) yield next;
    },
  };
  return await probeMedia(source, subject);
});
