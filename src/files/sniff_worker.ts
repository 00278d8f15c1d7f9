import { serveJobs } from "../base/serve_jobs.ts";
import { sniffName } from "./sniff_name.ts";

serveJobs(async (head: Uint8Array) => ({ output: await sniffName(head) }));
