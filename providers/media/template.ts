import {
  type Bound,
  compileExpression,
  type Evaluate,
  isExpression,
  type Maps,
} from "./expression.ts";

export type Template = Evaluate;

/**
 * A YAML value that contains expressions, compiled once. Undefined results are left out, so that an optional
 * parameter needs no condition.
 */
export function compileTemplate(written: unknown, maps: Maps): Template {
  if (isExpression(written)) return compileExpression(written, maps);
  if (Array.isArray(written)) {
    const members = written.map((member) => compileTemplate(member, maps));
    return async (root, bound) => {
      const values = await all(members, root, bound);
      return values.filter((value) => value !== undefined);
    };
  }
  if (typeof written === "object" && written !== null) {
    const names = Object.keys(written);
    const members = Object.values(written).map((member) => compileTemplate(member, maps));
    return async (root, bound) => {
      const values = await all(members, root, bound);
      const entries = names.map((name, at) => [name, values[at]] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    };
  }
  return () => Promise.resolve(written);
}

function all(members: readonly Template[], root: unknown, bound?: Bound): Promise<unknown[]> {
  return Promise.all(members.map((member) => member(root, bound)));
}

/** Whether the result of a condition counts as true. Unlike in JavaScript, an empty array does not. */
export function holds(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
