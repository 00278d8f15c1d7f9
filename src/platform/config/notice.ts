import type { DeprecationNotice } from "./config.ts";

/** Values of the Deprecation (RFC 9745) and Sunset (RFC 8594) headers. */
export function noticeOf(since: string | undefined, sunset: string | undefined): DeprecationNotice {
  return {
    deprecation: since === undefined ? "true" : `@${Math.floor(Date.parse(since) / 1000)}`,
    sunset: sunset === undefined ? null : new Date(sunset).toUTCString(),
  };
}
