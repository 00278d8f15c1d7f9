import type { ModelNotice } from "./config.ts";

/** RFC 9745 and RFC 8594: since when it is deprecated, and when it stops working. */
export function noticeOf(since: string | undefined, sunset: string | undefined): ModelNotice {
  return {
    deprecation: since === undefined ? "true" : `@${Math.floor(Date.parse(since) / 1000)}`,
    sunset: sunset === undefined ? null : new Date(sunset).toUTCString(),
  };
}
