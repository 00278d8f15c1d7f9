const WIDEST_LINE = 160;

interface Excerpt {
  gutter: string;
  shown: string;
  margin: string;
  carets: string;
}

/** The line of an issue as a terminal can show it, and the carets below it. */
export function excerpt(
  line: string,
  issue: { line: number; column: number; length: number },
): Excerpt {
  const from = issue.column - 1;
  // A line may be megabytes long: show the part around the issue.
  const start = from > WIDEST_LINE / 2 ? from - WIDEST_LINE / 2 : 0;
  const end = start + WIDEST_LINE;
  const ellipsis = start > 0 ? "…" : "";
  const before = replaceControlCharacters(line.slice(start, from));
  const marked = replaceControlCharacters(line.slice(from, Math.min(from + issue.length, end)));
  return {
    gutter: `${String(issue.line).padStart(5)} |`,
    shown: ellipsis + replaceControlCharacters(line.slice(start, end)) +
      (line.length > end ? "…" : ""),
    margin: " ".repeat(widthOf(ellipsis + before)),
    carets: "^".repeat(Math.max(1, widthOf(marked))),
  };
}

/** Tabs and control characters would move the caret or control the terminal. Lone surrogates are replaced. */
function replaceControlCharacters(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}/gu, " ");
}

const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const WIDE = new RegExp(
  "[\\p{Emoji_Presentation}\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3" +
    "\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{20000}-\\u{3fffd}]",
  "u",
);

/** Terminal cells: Chinese, Japanese, Korean and emoji take two, combining marks none. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}
