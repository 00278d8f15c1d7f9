import type { ChatTiming } from "./chat/complete_chat.ts";
import type { TimeOptions } from "./keep_time.ts";
import type { BodyPace } from "./limits/paced_reads.ts";
import type { DownloadLimits } from "./tasks/downloads.ts";
import type { ConfigVersionTiming } from "./tasks/config_versions.ts";
import type { SubmissionTiming } from "./tasks/submit_task.ts";

/** How long a gateway waits for what. Tests run with shorter times than the usual ones. */
export interface GatewayTiming {
  chat?: Partial<ChatTiming>;
  body?: Partial<BodyPace>;
  download?: Partial<DownloadLimits>;
  clock?: TimeOptions;
  configs?: Partial<ConfigVersionTiming>;
  tasks?: Partial<SubmissionTiming>;
}
