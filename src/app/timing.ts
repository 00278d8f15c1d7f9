import type { PasswordCost } from "../domain/accounts/passwords.ts";
import type { AnswerTiming } from "../domain/idempotency/answers.ts";
import type { ChatTiming } from "../workflows/chat/stream_chat.ts";
import type { RequestLogTiming } from "./open_request_log.ts";
import type { RetentionTiming } from "./open_retention.ts";
import type { TimeOptions } from "./watch_time.ts";
import type { ConnectionTiming } from "../http/http_listener.ts";
import type { BodyPace } from "../domain/limits/paced_reads.ts";
import type { DownloadLimits } from "../workflows/tasks/downloads.ts";
import type { ConfigVersionTiming } from "../workflows/tasks/config_versions.ts";
import type { SubmissionTiming } from "../workflows/tasks/submit_task.ts";

/** Times that tests shorten, and work that they make cheap. */
export interface GatewayTiming {
  chat?: Partial<ChatTiming>;
  answers?: Partial<AnswerTiming>;
  connections?: Partial<ConnectionTiming>;
  body?: Partial<BodyPace>;
  download?: Partial<DownloadLimits>;
  clock?: TimeOptions;
  configs?: Partial<ConfigVersionTiming>;
  tasks?: Partial<SubmissionTiming>;
  passwords?: PasswordCost;
  requestLog?: Partial<RequestLogTiming>;
  retention?: Partial<RetentionTiming>;
}
