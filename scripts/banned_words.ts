/**
 * Words that this project does not use, and what to write instead. Each had a private meaning here, or has
 * two; docs/contribute/glossary.md lists the words that replaced them. The lint rule `banned-words` checks
 * TypeScript, scripts/check_tree.ts checks all other text files and the file names.
 */

interface BannedWord {
  /** Words separated by spaces: found as `two words`, `twoWords`, `two_words`, `two-words`, with a plural s. */
  word: string;
  use: string;
  /** Found in identifiers only: as words of a sentence they are general English. */
  identifier?: true;
  /** Found only in exactly this case: the lower-case word is a field of another API. */
  exactCase?: true;
  /** Not reported where the text around it matches: the word in its general meaning. */
  except?: RegExp;
}

export const BANNED_WORDS: readonly BannedWord[] = [
  { word: "crew", use: "worker pool" },
  { word: "ailment", use: "problem" },
  { word: "pot", use: "balance bucket" },
  { word: "leg", use: "allocation" },
  { word: "payer", use: "account" },
  { word: "enlist", use: "enqueueInTransaction" },
  { word: "rung again", use: "requeue" },
  { word: "bell", use: "signal" },
  { word: "nudge", use: "wake" },
  { word: "nudged", use: "woken" },
  { word: "withheld", use: "unavailable" },
  { word: "feasible", use: "valid" },
  { word: "key ring", use: "ApiKeyCache" },
  { word: "plan keeper", use: "ConfigStore" },
  { word: "elsewhere error", use: "RemoteError" },
  { word: "Refusal", use: "ApiError", exactCase: true },
  {
    word: "declaration",
    use: "configuration",
    // Names of TypeScript's syntax tree, Gemini's and XML's own word.
    except:
      /(?:function|import|export|exportnamed|exportall|variable|class|type|xml|namespace|doctype)[ _-]?declarations?/i,
  },
  { word: "picture", use: "image", except: /picture-in-picture|display-capture/ },
  { word: "film", use: "video" },
  {
    word: "clip",
    use: "video or audio",
    // Names of CSS, of the canvas, and an option of Playwright.
    except:
      /clip-path|overflow(-[xy])?: ?clip|background-clip|context\.clip\(|screenshot\(\{ clip:/,
  },
  { word: "verdict", use: "decision" },
  { word: "judge", use: "decide" },
  { word: "judged", use: "decided" },
  { word: "somebody", use: "the subject's name (a client, a worker, an operator)" },
  {
    word: "nobody",
    use: "no client, no worker, no operator",
    except: /`nobody`|"nobody:"/, // the system's user
  },
  { word: "anybody", use: "any client, any worker, any operator" },
  { word: "everybody", use: "all clients, all workers, all operators" },
  { word: "whoever", use: "the subject's name (a client, a worker, an operator)" },
  { word: "glance", use: "getStatus" },
  { word: "look later", use: "schedulePoll" },
  { word: "look at task", use: "getStatus" },
  { word: "living max", use: "maxActive" },
  { word: "living hold", use: "HoldRenewer" },
  { word: "may knock", use: "allowWhileOpen" },
  { word: "is ill", use: "isOutage" },
  { word: "rest until", use: "openUntil", identifier: true },
  { word: "rests seconds", use: "retry_in_seconds" },
  { word: "hear callback", use: "handleProviderCallback" },
  { word: "appetite", use: "prefetch" },
  { word: "hungry", use: "starved" },
  { word: "spot of", use: "assignmentOf", identifier: true },
  { word: "survey", use: "progress or merge" },
  { word: "lane", use: "queue, job kind or connection", except: /control lane/ },
  { word: "why not several", use: "validateEnvironment" },
  { word: "waits for restart", use: "settingsNeedingRestart" },
  { word: "find home", use: "hostId" },
  { word: "one by one", use: "splitSingles", identifier: true },
  { word: "keep forgetting", use: "startExpiryLoop" },
  { word: "peaceful", use: "withoutFaults" },
  { word: "function shown", use: "toAccount, toKey, …: one name for one function" },
];

/** Files in which any word may stand, with the reason. */
const ALLOWED_IN: readonly { path: RegExp; why: string }[] = [
  { path: /^CHANGELOG\.md$/, why: "names the words that were renamed" },
  { path: /^scripts\/(?:banned_words|lint_rules|check_tree)/, why: "the list, and tests of it" },
  { path: /^providers\/\w+\/recorded\//, why: "what other services answered" },
];

export interface FoundWord {
  word: string;
  use: string;
  /** Offset of the match in the text. */
  start: number;
  end: number;
}

interface Matcher extends BannedWord {
  pattern: RegExp;
}

const MATCHERS: readonly Matcher[] = BANNED_WORDS.map((banned) => ({
  ...banned,
  pattern: patternOf(banned),
}));
/** One pass over a text that has none of the words is one search. */
const ANY = new RegExp(
  BANNED_WORDS.map(({ word }) => word.replaceAll(" ", "[ _-]?")).join("|"),
  "i",
);

/**
 * A word begins where no lower-case letter of the same word stands before it: at a break of any kind, or with
 * a capital inside of an identifier. It ends where no lower-case letter follows.
 */
function patternOf({ word, exactCase, identifier }: BannedWord): RegExp {
  const parts = word.split(" ");
  const lower = parts.map((part) => part.toLowerCase());
  const capital = lower.map((part) => part[0]!.toUpperCase() + part.slice(1));
  const any = (choices: string[]) => `(?:${[...new Set(choices)].join("|")})`;
  const separator = identifier ? "_?" : "[ _-]?";
  const rest = lower.slice(1).map((part, at) => `${separator}${any([part, capital[at + 1]!])}`)
    .join("");
  const plain = `(?<![A-Za-z])${any([lower[0]!, capital[0]!])}${rest}`;
  const inside = `(?<=[a-z0-9])${capital[0]}${rest}`;
  const loud = `(?<![A-Za-z])${lower.map((part) => part.toUpperCase()).join("_")}`;
  if (exactCase) return new RegExp(`(?<![A-Z])${parts.join("")}s?(?![a-z])`, "g");
  return new RegExp(`(?:(?:${plain}|${inside})s?(?![a-z])|${loud}S?(?![A-Za-z]))`, "g");
}

export function findBannedWords(path: string, text: string): FoundWord[] {
  if (!ANY.test(text) || ALLOWED_IN.some((allowed) => allowed.path.test(path))) return [];
  const found: FoundWord[] = [];
  for (const { word, use, except, pattern } of MATCHERS) {
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (except?.test(text.slice(Math.max(0, start - 24), end + 16))) continue;
      found.push({ word, use, start, end });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}
