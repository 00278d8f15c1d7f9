import { serveJobs } from "../../lib/serve_jobs.ts";
import { probeImage } from "./probe_image.ts";
import { type MediaFacts, UNKNOWN_MEDIA } from "./media_facts.ts";
import type { SniffedMedia, SniffJob } from "./media_probe.ts";
import { sniffName } from "./sniff_name.ts";

await serveJobs<SniffJob, SniffedMedia | MediaFacts>(async ({ wants, head }) => {
  if (wants === "size") return probeImage(head);
  const name = await sniffName(head);
  const isMeasured = wants === "both" && name.startsWith("image/");
  return { name, facts: isMeasured ? probeImage(head) : UNKNOWN_MEDIA };
});
