/** Finds log messages and metrics in the text of the source. */

export interface Source {
  path: string;
  text: string;
}

export interface LogMessage {
  message: string;
  level: string;
  fields: string[];
}

/** `log.warn("message", { field })`, also through `deps.log?.`; debug messages are for developers. */
const LOG_CALL = /\b#?log\??\.(info|warn|error)\(\s*(?:"([^"\n]+)"|`([^`\n]+)`)\s*(,\s*\{)?/g;
/** Callbacks that pass a message and its fields on to the log. */
const LOG_CALLBACK =
  /\b(?:on)?(warn|[Ee]rror|logWarning|logError)\(\s*"([^"\n]+)"(?:()),?\s*(,?\s*\{)/g;

/** Every message at level info or above, in alphabetical order. */
export function logMessages(sources: readonly Source[]): LogMessage[] {
  const found = new Map<string, LogMessage>();
  for (const { text } of sources) {
    for (const pattern of [LOG_CALL, LOG_CALLBACK]) {
      for (const match of text.matchAll(pattern)) {
        const message = match[2] ?? match[3]!.replace(/\$\{[^}]*\}/g, "…");
        // A line that is put together entirely at run time, such as a configuration warning.
        if (!/[a-z]/i.test(message)) continue;
        const start = match.index + match[0].length;
        const fields = match[4] === undefined ? [] : fieldNames(text, start);
        const known = found.get(message)?.fields ?? [];
        const level = match[1]!.toLowerCase().includes("warn")
          ? "warn"
          : match[1] === "info"
          ? "info"
          : "error";
        found.set(message, { message, level, fields: [...new Set([...known, ...fields])] });
      }
    }
  }
  return [...found.values()].sort((a, b) => a.message < b.message ? -1 : 1);
}

/** Names of the fields in the object literal whose content begins at `start`. */
function fieldNames(text: string, start: number): string[] {
  const names: string[] = [];
  let depth = 1;
  let part = "";
  for (let at = start; at < text.length && depth > 0; at++) {
    const character = text[at]!;
    if ("{[(".includes(character)) depth++;
    if ("}])".includes(character)) depth--;
    if (depth === 0 || (character === "," && depth === 1)) {
      const name = /^\s*(?:"([\w.]+)"|(\w+))\s*(?::|$)/.exec(part);
      if (name !== null) names.push(name[1] ?? name[2]!);
      part = "";
    } else part += character;
  }
  return names;
}

export interface Metric {
  name: string;
  labels: string[];
  help: string;
}

export function metrics(sources: readonly Source[]): Metric[] {
  const found = sources.flatMap(({ text }) =>
    [...text.matchAll(/name: "(tollgate_\w+)"([^]*?)registers/g)].map(([, name, options]) => ({
      name: name!,
      labels: [...(/labelNames: \[([^\]]*)\]/.exec(options!)?.[1] ?? "").matchAll(/"(\w+)"/g)]
        .map(([, label]) => label!),
      help: /help:\s*"([^"]*)"/.exec(options!)?.[1] ?? "",
    }))
  );
  return found.sort((a, b) => a.name < b.name ? -1 : 1);
}
