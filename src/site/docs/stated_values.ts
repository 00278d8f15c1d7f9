import { OVERLAP_SECONDS } from "../../domain/webhooks/secrets.ts";
import type { Config } from "../../platform/config/config.ts";
import { formatDuration, formatList, formatRoundDuration, plural } from "../format.ts";

/** What guides state about the gateway, by the names in their markers. */
const VALUES: Readonly<Record<string, (config: Config) => string>> = {
  "limits.queue_seconds_max": ({ limits }) => formatRoundDuration(limits.queueSecondsMax),
  "storage.outputs.url_hours": ({ storage }) => plural(storage.outputs.urlHours, "hour"),
  "webhooks.timeout_seconds": ({ webhooks }) => formatRoundDuration(webhooks.timeoutSeconds),
  // Without the first: it is the delay of the first attempt.
  "webhooks.retry_seconds": ({ webhooks }) =>
    formatList(webhooks.retrySeconds.slice(1).map((seconds) => formatDuration(seconds))),
  "webhooks.disable_after_days": ({ webhooks }) => plural(webhooks.disableAfterDays, "day"),
  "storage.keep.task_days": ({ storage }) => plural(storage.keep.taskDays, "day"),
  "storage.keep.webhook_days": ({ storage }) => plural(storage.keep.webhookDays, "day"),
  "webhooks.overlap_seconds": () => formatRoundDuration(OVERLAP_SECONDS),
};

const MARKER = /<!-- value: ([a-z_.]+) -->([^<]*)<!-- end -->/g;

/**
 * A guide with the values of this gateway in place of those between `<!-- value: name -->` and `<!-- end -->`,
 * which are the defaults: the source is read without a gateway, too.
 */
export function stateValues(text: string, config: Config): string {
  return text.replace(MARKER, (_, name: string) => {
    const value = VALUES[name];
    if (value === undefined) throw new Error(`A guide states the unknown value ${name}`);
    return value(config);
  });
}
