import jsonata from "jsonata";
import { refuse } from "../dialect/write.ts";
import { asBase64, asDataUrl, asSource } from "./inputs.ts";

/**
 * A value in a provider's file that begins with `=` is a JSONata expression, which is evaluated for each
 * job. Any other value is used as it is.
 */
export type Evaluate = (root: unknown, bound?: Bound) => Promise<unknown>;
export type Bound = Readonly<Record<string, unknown>>;
export type Maps = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function isExpression(value: unknown): value is `=${string}` {
  return typeof value === "string" && value.startsWith("=");
}

export function compileExpression(written: string, maps: Maps = {}): Evaluate {
  const compiled = jsonata(written.slice(1));
  compiled.assign("mapped", mapper(maps));
  compiled.assign("source", asSource);
  compiled.assign("data_url", asDataUrl);
  compiled.assign("base64", asBase64);
  return async (root, bound) => plain(await compiled.evaluate(root, { ...bound }));
}

/** The syntax error of an expression, with its position; null without one. */
export function findSyntaxError(written: string): string | null {
  try {
    jsonata(written.slice(1));
    return null;
  } catch (error) {
    const { message, position } = error as { message: string; position?: number };
    return position === undefined ? message : `${message} at character ${position + 1}`;
  }
}

/**
 * `$mapped("ratios", parameters.aspect_ratio)`: the entry of the file's map for a value. Undefined stays
 * undefined; a value without an entry is not supported by this provider.
 */
function mapper(maps: Maps): (name: string, value: unknown) => unknown {
  return (name, value) => {
    if (value === undefined || value === null) return undefined;
    const map = maps[name];
    if (map !== undefined && Object.hasOwn(map, String(value))) return map[String(value)];
    refuse(name, "This model does not take this value.");
  };
}

/** JSONata adds properties to the arrays it returns; the copy has none. */
function plain(value: unknown): unknown {
  return Array.isArray(value) ? [...value] : value;
}
