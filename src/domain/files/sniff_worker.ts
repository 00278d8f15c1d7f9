import { serveJobs } from "../../lib/serve_jobs.ts";
import { probeImage } from "./probe_image.ts";
import type { MediaFacts } from "./media_facts.ts";
import type { SniffedMedia } from "./media_probe.ts";
import { sniffName } from "./sniff_name.ts";

await serveJobs<SniffedMedia, string | MediaFacts>(async ({ at, head }) =>
  at === "type" ? await sniffName(head) : probeImage(head)
);
