import { stringify } from "yaml";

/** A value on one line: { input_price: "1.25", sizes: [1024x1024] }. */
export function renderFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([name, each]) => `${name}: ${renderFlow(each)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  if (typeof value === "string" && /[,\n{}[\]]/.test(value)) return JSON.stringify(value);
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

/** An item of a list whose dashes are in this column; of a mapping, one key per line. */
export function renderItem(value: unknown, column: number): string {
  const indent = " ".repeat(column);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${indent}- ${renderFlow(value)}`;
  }
  const lines = Object.entries(value).map(([name, each]) => `${name}: ${renderFlow(each)}`);
  return `${indent}- ${lines.join(`\n${indent}  `)}`;
}
