import jsonata from "jsonata";
import { refuse } from "../dialect/write.ts";
import { asBase64, asDataUrl, asSource } from "./inputs.ts";

/**
 * A value in a provider's file that begins with `=` is an expression in JSONata: it is worked out for
 * each job. Anything else stands for itself.
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

/** Why it cannot be compiled, with how far into the text; null where it can. */
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
 * `$mapped("ratios", parameters.aspect_ratio)`: what the file's map holds for a value. Nothing stays
 * nothing; a value that the map does not hold is more than this provider can do.
 */
function mapper(maps: Maps): (name: string, value: unknown) => unknown {
  return (name, value) => {
    if (value === undefined || value === null) return undefined;
    const map = maps[name];
    if (map !== undefined && Object.hasOwn(map, String(value))) return map[String(value)];
    refuse(name, "This model does not take this value.");
  };
}

/** Results of expressions are lists with marks on them; a plain list is what others expect. */
function plain(value: unknown): unknown {
  return Array.isArray(value) ? [...value] : value;
}
