import { withoutTrailing } from "../../../lib/without_trailing.ts";
import type { SourceValue } from "./provider_drafts.ts";

/** Paths of endpoints, which some gateways want in the URL and this one adds. */
const ENDPOINT = /\/(?:chat\/completions|completions|embeddings|messages)$/;

/**
 * The URL of a provider with the path that our adapter expects at its end. Null if it is none. What has a password or
 * a query is a secret.
 */
export function readBaseUrl(text: string, path = ""): SourceValue | null {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > 2000) return null;
  const isSecret = url.username !== "" || url.password !== "" ||
    [...url.searchParams.keys()].some((name) => name !== "api-version");
  url.pathname = withoutTrailing(url.pathname, "/").replace(ENDPOINT, "");
  url.hash = "";
  if (path !== "" && !url.pathname.endsWith(path)) {
    url.pathname = url.pathname.replace(/\/$/, "") + path;
  }
  const written = url.href.replace(/\/(?=\?|$)/, "");
  return isSecret ? { secret: written } : { text: written };
}
