import { stringify } from "yaml";

/** Columns of a line; what is longer is written as a block. */
const LINE_MAX = 100;

/** A value on one line: { input_price: "1.25", sizes: [1024x1024] }. */
export function renderFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([name, each]) =>
      `${renderKey(name)}: ${renderFlow(each)}`
    );
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  if (typeof value === "string" && /[,{}[\]]/.test(value)) return JSON.stringify(value);
  return renderScalar(value);
}

/** An item of a list whose dashes are in this column; of a mapping, one key per line. */
export function renderItem(value: unknown, column: number): string {
  const indent = " ".repeat(column);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${indent}- ${renderFlow(value)}`;
  }
  const lines = Object.entries(value).map(([name, each]) =>
    `${renderKey(name)}: ${renderFlow(each)}`
  );
  return `${indent}- ${lines.join(`\n${indent}  `)}`;
}

/** The keys of a mapping, each on a line that begins in this column; values that are too long for it follow indented. */
export function renderMapping(value: object, column: number): string {
  const indent = " ".repeat(column);
  return Object.entries(value).map(([name, each]) => {
    const key = `${indent}${renderKey(name)}:`;
    const isCollection = typeof each === "object" && each !== null;
    if (!isCollection) return `${key} ${renderScalar(each)}`;
    const flow = `${key} ${renderFlow(each)}`;
    if (flow.length <= LINE_MAX) return flow;
    const inner = Array.isArray(each)
      ? each.map((item) => renderWrappedItem(item, column + 2)).join("\n")
      : renderMapping(each, column + 2);
    return `${key}\n${inner}`;
  }).join("\n");
}

/** An item of a list on one line if it fits, else as a block. */
export function renderWrappedItem(value: unknown, column: number): string {
  const line = `${" ".repeat(column)}- ${renderFlow(value)}`;
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  return line.length <= LINE_MAX || !isMapping ? line : renderBlockItem(value, column);
}

/** An item of a list that is a mapping, with one key per line. */
export function renderBlockItem(value: object, column: number): string {
  return `${" ".repeat(column)}- ${renderMapping(value, column + 2).trimStart()}`;
}

function renderScalar(value: unknown): string {
  const text = stringify(value, { lineWidth: 0 }).replace(/\n$/, "");
  // The library writes some texts as blocks of several lines, and leaves characters that break lines.
  return typeof value === "string" && /^[|>]|[\p{Cc}\u2028\u2029]/u.test(text)
    ? JSON.stringify(value)
    : text;
}

function renderKey(name: string): string {
  return /^[A-Za-z_][\w.-]*$/.test(name) ? name : JSON.stringify(name);
}
