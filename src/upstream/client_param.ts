import chatRequest from "../../schemas/requests/chat_completions.schema.json" with { type: "json" };

/** A place in a list, as others write it: `messages[0].content`, `messages.[0].content`. */
const INDEX = /\.?\[(\d+)\]/g;
/** Deeper than any request of ours is; a bound on the work that an upstream's text can cause. */
const DEPTH_MAX = 16;
const CHARACTERS_MAX = 200;
const LIMITS = ["max_completion_tokens", "max_tokens"];
/** The names that our own request schema publishes. */
const PUBLISHED = namesIn(chatRequest);

/**
 * The field that an upstream complains about, spelled like ours. Only a path into the client's own request is
 * shown: everything else would be the upstream's words. The last name may be missing from the request if our
 * schema publishes it, since an upstream may complain of its absence.
 */
export function clientParam(named: string | undefined, request: unknown): string | undefined {
  if (named === undefined || named.length > CHARACTERS_MAX) return undefined;
  const path = named.replaceAll(INDEX, ".$1");
  // One limit of the answer is sent, whichever name the client gave it.
  if (LIMITS.includes(path)) return LIMITS.find((name) => Object.hasOwn(request as object, name));
  const steps = path.split(".");
  if (steps.length > DEPTH_MAX) return undefined;
  let value = request;
  for (const [at, step] of steps.entries()) {
    if (typeof value !== "object" || value === null) return undefined;
    if (!Object.hasOwn(value, step) || (Array.isArray(value) && !/^\d+$/.test(step))) {
      const isMissing = at > 0 && at === steps.length - 1 && !Array.isArray(value);
      return isMissing && PUBLISHED.has(step) ? path : undefined;
    }
    value = (value as Record<string, unknown>)[step];
  }
  return path;
}

function namesIn(schema: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return names;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") { for (const name of Object.keys(value)) names.add(name); }
    namesIn(value, names);
  }
  return names;
}
