import { readConnectRequest } from "./connect_request.ts";

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ["/console/keys", "your API keys"],
  ["/console/models", "the models"],
  ["/console/tasks", "your tasks"],
  ["/console/webhooks", "your webhooks"],
  ["/console/billing", "billing"],
  ["/console/operator", "the operator pages"],
  ["/console", "the console"],
  ["/account", "your account settings"],
];

/** Why a visitor is asked to sign in, by the page they came for; null where they came for none. */
export function signInReason(returnTo: string): string | null {
  const { pathname, searchParams } = new URL(returnTo, "http://localhost");
  if (pathname === "/connect/browser-auth") {
    const read = readConnectRequest(searchParams);
    return "request" in read ? `Sign in to give ${read.request.client} an API key.` : null;
  }
  // The console is where everyone goes after sign-in: that needs no reason.
  if (returnTo === "/console") return null;
  const page = PAGES.find(([path]) => pathname === path || pathname.startsWith(`${path}/`));
  return page === undefined ? null : `Sign in to open ${page[1]}.`;
}
