import { serveJobs } from "../base/serve_jobs.ts";
import { measureImage } from "./measure_image.ts";
import type { Measured } from "./measured.ts";
import type { Look } from "./probe.ts";
import { sniffName } from "./sniff_name.ts";

await serveJobs<Look, string | Measured>(async ({ at, head }) =>
  at === "type" ? await sniffName(head) : measureImage(head)
);
