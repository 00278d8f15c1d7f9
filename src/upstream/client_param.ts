import chatRequest from "../../schemas/requests/chat_completions.schema.json" with { type: "json" };

/** An index in brackets, as some providers write it: `messages[0].content`, `messages.[0].content`. */
const INDEX = /\.?\[(\d+)\]/g;
/** Deeper than any valid request; limits the work that an upstream's text can cause. */
const DEPTH_MAX = 16;
const CHARACTERS_MAX = 200;
const LIMITS = ["max_completion_tokens", "max_tokens"];
/** The names that our own request schema publishes. */
const PUBLISHED = namesIn(chatRequest);

/**
 * The field that an upstream's error is about, in our spelling. Only a path in the client's own request is
 * shown: any other text would be the upstream's. The last name may be missing from the request if our schema
 * has it, since the error may be that it is missing.
 */
export function clientParam(named: string | undefined, request: unknown): string | undefined {
  if (named === undefined || named.length > CHARACTERS_MAX) return undefined;
  const path = named.replaceAll(INDEX, ".$1");
  // The output limit has two names; the upstream may use the other one.
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
