import type { IssueText } from "./issue.ts";
import { secretFileOf } from "./secret_files.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A string with its references filled in. */
export interface FilledText {
  text: string;
  /** The string consists of references only: the file itself contains no part of the value. */
  isReference: boolean;
  /** Paths of the files that it refers to. */
  files: string[];
  issues: IssueText[];
}

/** No value needs more, and patterns must not run on megabytes. */
export const TEXT_MAX = 64 * 1024;

const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*|file:\/[^:]+)(?::-(.*))?$/s;
const HOW_TO_WRITE = "Write ${NAME}, ${NAME:-default} or ${file:/path}; $${ stands for a plain ${.";

/** Fills in `${NAME}`, `${file:/path}` and both with `:-default`; `$${` stands for a plain `${`. */
export function fillReferences(raw: string, environment: Environment): FilledText {
  if (raw.length > TEXT_MAX) return tooLong();
  const issues: IssueText[] = [];
  const files: string[] = [];
  let text = "";
  let isReference = raw !== "";
  let at = 0;
  for (let start = raw.indexOf("${"); start >= 0; start = raw.indexOf("${", at)) {
    const isEscaped = start > at && raw[start - 1] === "$";
    const before = raw.slice(at, isEscaped ? start - 1 : start);
    if (isEscaped || before !== "") isReference = false;
    text += before;
    if (isEscaped) {
      text += "${";
      at = start + 2;
      continue;
    }
    const end = raw.indexOf("}", start);
    const broken = reasonMalformed(raw, start, end);
    if (broken !== null) {
      issues.push({ message: broken, suggestion: HOW_TO_WRITE });
      return { text: "", isReference, files, issues };
    }
    text += lookUp(raw.slice(start + 2, end), environment, { files, issues });
    if (text.length > TEXT_MAX) return tooLong();
    at = end + 1;
  }
  if (at < raw.length) isReference = false;
  return { text: text + raw.slice(at), isReference, files, issues };
}

/** A text that stands for itself when references are filled in. */
export function escapeReferences(text: string): string {
  return text.replaceAll("${", () => "$${");
}

function reasonMalformed(raw: string, start: number, end: number): string | null {
  if (end < 0) return `the reference ${short(raw.slice(start))} is not closed with }`;
  const inner = raw.slice(start + 2, end);
  if (inner.includes("${")) return "a reference must not contain another reference";
  if (NAME_AND_DEFAULT.test(inner)) return null;
  return `${
    short(raw.slice(start, end + 1))
  } is not a reference to an environment variable or a file`;
}

function lookUp(
  inner: string,
  environment: Environment,
  { files, issues }: Pick<FilledText, "files" | "issues">,
): string {
  const [, name, fallback] = NAME_AND_DEFAULT.exec(inner)!;
  const file = secretFileOf(name!);
  if (file !== null) files.push(file);
  const set = environment[name!];
  // An empty variable counts as unset, as with :- in a shell.
  if (typeof set === "string" && set !== "") return set;
  if (fallback !== undefined) return fallback;
  const message = file === null
    ? `the environment variable ${name} is ${set === "" ? "empty" : "not set"}`
    : `the file ${file} ${set === "" ? "is empty" : "cannot be read"}`;
  if (!issues.some((issue) => issue.message === message)) {
    const remedy = file === null ? "Set it" : "Create it";
    issues.push({
      message,
      suggestion: `${remedy}, or write \${${name}:-} to allow an empty value.`,
    });
  }
  return "";
}

function tooLong(): FilledText {
  const message = `is longer than ${TEXT_MAX.toLocaleString("en")} characters`;
  return { text: "", isReference: false, files: [], issues: [{ message }] };
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
