import { serveJobs } from "../../lib/serve_jobs.ts";
import { measureImage } from "./probe_image.ts";
import type { Measured } from "./media_facts.ts";
import type { Look } from "./media_probe.ts";
import { sniffName } from "./sniff_name.ts";

await serveJobs<Look, string | Measured>(async ({ at, head }) =>
  at === "type" ? await sniffName(head) : measureImage(head)
);
