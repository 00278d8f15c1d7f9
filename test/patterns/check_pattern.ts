import type { Diagnostics } from "recheck";

// The backend in JavaScript: the others are a Java archive and programs for some machines.
Deno.env.set("RECHECK_BACKEND", "pure");
const { checkSync } = await import("recheck");

/** Of the checker and of how it is asked. */
export const VERSION = `${
  (await import("recheck/package.json", { with: { type: "json" } })).default.version
}, 1`;

/**
 * The automaton decides exactly, mostly in milliseconds; where it takes longer, a search for attacks does.
 * Long, because on a busy machine a time-out would look like a pattern that cannot be decided.
 */
const AUTOMATON_MS = 120_000;
const SEARCH_MS = 120_000;
/** A repetition of at most so many times is looked at as it is. */
const REPEAT_MAX = 4;

/** Why a pattern may take more than linear time, with a text that shows it; null when it cannot. */
export function whyNotLinear(source: string, flags: string): string | null {
  const pattern = withSmallCounts(withoutSetDifference(source, flags));
  const exact = checkSync(pattern, plainFlags(flags), {
    checker: "automaton",
    timeout: AUTOMATON_MS,
  });
  const result = exact.status !== "unknown"
    ? exact
    : checkSync(pattern, plainFlags(flags), { checker: "fuzz", timeout: SEARCH_MS });
  return result.status === "safe" ? null : explain(result);
}

function explain(result: Diagnostics): string {
  if (result.status === "vulnerable") {
    return `${result.complexity.summary}, for example on ${result.attack.pattern}`;
  }
  return result.status === "unknown" ? `not decided: ${JSON.stringify(result.error)}` : "safe";
}

/**
 * Repetitions of up to 64 times make the automaton large, and as a bounded number of steps they do not
 * matter: what can be repeated between two and many times stays so, with smaller numbers.
 */
export function withSmallCounts(source: string): string {
  let text = "";
  let isInClass = false;
  for (let at = 0; at < source.length; at++) {
    const rest = source.slice(at);
    const whole = /^\\[pPu]\{[^{}]*\}/.exec(rest)?.[0] ?? /^\\[^]/.exec(rest)?.[0];
    const count = isInClass ? null : /^\{(\d+)(,?)(\d*)\}/.exec(rest);
    if (whole !== undefined) text += whole;
    else if (count !== null) {
      const [, least, comma, most] = count;
      const low = Math.min(Number(least), REPEAT_MAX - 1);
      const high = most === "" ? "" : Math.min(Number(most), REPEAT_MAX);
      text += comma === "" ? `{${Math.min(Number(least), REPEAT_MAX)}}` : `{${low},${high}}`;
    } else {
      if (source[at] === "[") isInClass = true;
      if (source[at] === "]") isInClass = false;
      text += source[at];
    }
    at += (whole ?? count?.[0] ?? " ").length - 1;
  }
  return text;
}

/** The checker does not know the flag `v`; a class is as good as the larger one it is taken from. */
function withoutSetDifference(source: string, flags: string): string {
  return flags.includes("v") ? source.replaceAll(/\[(\[[^[\]]*\])--\[[^[\]]*\]\]/g, "$1") : source;
}

function plainFlags(flags: string): string {
  return flags.replace("v", "u").replace("d", "");
}
