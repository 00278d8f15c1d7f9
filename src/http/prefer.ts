import type { HttpContext } from "./exchange.ts";

/** Preferences of a client (RFC 7240). Unknown ones are ignored, as the RFC says. */
export interface Preferences {
  /** How long the response may wait for the task, in seconds. */
  waitSeconds: number;
  respondAsync: boolean;
}

const WAIT_SECONDS_MAX = 60;

export function readPreferences(c: HttpContext): Preferences {
  let waitSeconds = 0;
  let respondAsync = false;
  for (const part of (c.req.header("prefer") ?? "").split(",")) {
    const [name, value] = part.split(";")[0]!.split("=").map((each) => each.trim());
    if (name?.toLowerCase() === "respond-async") respondAsync = true;
    if (name?.toLowerCase() !== "wait") continue;
    // Without a number, as long as we can.
    if (value === undefined) waitSeconds = WAIT_SECONDS_MAX;
    else if (/^"?\d{1,6}"?$/.test(value)) {
      waitSeconds = Math.min(WAIT_SECONDS_MAX, Number(value.replaceAll('"', "")));
    }
  }
  return { waitSeconds, respondAsync };
}
