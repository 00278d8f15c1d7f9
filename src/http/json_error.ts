/** Describes why `JSON.parse` failed, and where. */
export function describeJsonError(text: string, error: unknown): string {
  if (text.trim() === "") return "The body is empty: send a JSON object.";
  const match = /^(.+?)(?: (?:in|after) JSON)? at position (\d+)/.exec((error as Error).message);
  const at = match === null ? firstBadValue(text) : Number(match[2]);
  if (at === null) return "The body is not valid JSON.";
  const place = placeOf(text, at);
  if (at >= text.length) {
    return `The body is not valid JSON: it ends too early, at ${place}. A quote or a bracket is open.`;
  }
  const reason = match?.[1] ??
    `Unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))}`;
  return `The body is not valid JSON, at ${place}: ${reason[0]!.toLowerCase()}${reason.slice(1)}.`;
}

function placeOf(text: string, at: number): string {
  let line = 1;
  let start = 0;
  // Not by splitting: a large body may be nothing but line breaks.
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}

/** Characters: a client must not keep the thread busy for seconds. */
const SEARCHED_MAX = 500_000;
const SCALAR = /true|false|null|[-\d][\d.eE+-]*/y;

/**
 * The engine reports the position of every error but this one: something else where a value is expected.
 * Everything before it is valid, so reading token by token is enough.
 */
function firstBadValue(text: string): number | null {
  let last = ",";
  for (let at = 0; at < text.length;) {
    if (at > SEARCHED_MAX) return null;
    const char = text[at]!;
    if (char === '"') {
      at = endOfString(text, at);
      last = char;
    } else if (" \n\r\t".includes(char)) {
      at++;
    } else if ("{}[]:,".includes(char)) {
      const isValueWanted = last === "," || last === ":" || last === "[" && char !== "]";
      if (isValueWanted && "}]:,".includes(char)) return at;
      last = char;
      at++;
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return at;
      at = SCALAR.lastIndex;
      last = char;
    }
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
