import { serveJobs } from "../../lib/serve_jobs.ts";
import type { JoinAnswer, ShotBytes } from "./join_in_worker.ts";
import { CannotJoin, joinVideos } from "./join_videos.ts";

await serveJobs<readonly ShotBytes[], JoinAnswer>(async (shots) => {
  try {
    const joined = await joinVideos(shots.map(({ video, line }) => ({
      video: new Blob([video]),
      line: line === null ? null : new Blob([line]),
    })));
    return { joined };
  } catch (error) {
    // A class of ours does not survive the way between processes.
    if (!(error instanceof CannotJoin)) throw error;
    const { shot, reason, cause } = error;
    return { cannot: { shot, reason, cause: String(cause ?? "") } };
  }
});
