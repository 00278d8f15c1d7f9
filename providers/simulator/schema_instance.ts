import type { Chance } from "./chance.ts";
import { type Fields, isFields } from "./fields.ts";
import {
  integerFor,
  limitOf,
  listOf,
  numberFor,
  stringFor,
  Unsatisfiable,
} from "./schema_values.ts";
import { mergeSchemas } from "./schema_merge.ts";
import { WORK_MAX, workOf } from "./schema_work.ts";

/** How deep an instance goes before it takes only what it must. */
const DEPTH_RICH = 4;
const DEPTH_MAX = 40;
const VALUES_MAX = 5_000;
const ITEMS_USUAL = 3;

/**
 * A value that the JSON Schema accepts, with words of the prompt in its strings. It knows types, `enum`,
 * `const`, ranges, lengths, formats, objects, arrays, `allOf`, `anyOf`, `oneOf` and references within the
 * schema; it does not look at `pattern`, `not`, `if` and `contains`.
 */
export function instanceOf(schema: unknown, words: readonly string[], chance: Chance): unknown {
  let values = 0;
  let work = 0;

  function make(wanted: unknown, depth: number): unknown {
    if (++values > VALUES_MAX || depth > DEPTH_MAX) throw new Unsatisfiable("it never ends");
    spend(wanted);
    if (wanted === true || wanted === undefined) return stringFor({}, words, chance);
    if (!isFields(wanted)) throw new Unsatisfiable("nothing is allowed");
    if (typeof wanted.$ref === "string") {
      const { $ref, ...beside } = wanted;
      return make(merged([resolve($ref), beside]), depth + 1);
    }
    if (Object.hasOwn(wanted, "const")) return wanted.const;
    if (Array.isArray(wanted.enum)) return ofEnum(wanted);
    if (Array.isArray(wanted.allOf)) {
      const { allOf, ...beside } = wanted;
      return make(merged([...allOf.map(dereference), beside]), depth + 1);
    }
    for (const key of ["anyOf", "oneOf"]) {
      if (Array.isArray(wanted[key])) return ofBranches(wanted, key, depth);
    }
    return ofTypes(wanted, depth);
  }

  /** A schema may be as large as a request and be looked at for every value: all of it has an end. */
  function spend(looked: unknown): void {
    work += workOf(looked);
    if (work > WORK_MAX) throw new Unsatisfiable("it is too large");
  }

  function merged(parts: readonly unknown[]): unknown {
    parts.forEach(spend);
    return mergeSchemas(parts);
  }

  function ofEnum(wanted: Fields): unknown {
    const fitting = listOf(wanted.enum).filter((one) => isOfType(one, wanted));
    if (fitting.length === 0) throw new Unsatisfiable("enum is empty");
    return chance.pick(fitting);
  }

  function ofBranches(wanted: Fields, key: string, depth: number): unknown {
    const { [key]: list, ...beside } = wanted;
    const branches = depth < DEPTH_RICH
      ? chance.shuffle(listOf(list)).sort((a, b) => Number(isNull(a)) - Number(isNull(b)))
      : [...listOf(list)].sort((a, b) => weightOf(a) - weightOf(b));
    return firstThatWorks(
      branches,
      (branch) => make(merged([dereference(branch), beside]), depth + 1),
    );
  }

  function ofTypes(wanted: Fields, depth: number): unknown {
    const types = typesOf(wanted);
    const [last, first] = [
      types.filter((one) => one === "null"),
      types.filter((one) => one !== "null"),
    ];
    const order = depth < DEPTH_RICH ? [...first, ...last] : [...last, ...first];
    return firstThatWorks(order, (type) => ofType(wanted, type, depth));
  }

  function ofType(wanted: Fields, type: unknown, depth: number): unknown {
    switch (type) {
      case "object":
        return ofObject(wanted, depth);
      case "array":
        return ofArray(wanted, depth);
      case "string":
        return stringFor(wanted, words, chance);
      case "integer":
        return integerFor(wanted, chance);
      case "number":
        return numberFor(wanted, chance);
      case "boolean":
        return chance.below(2) === 0;
      case "null":
        return null;
      default:
        throw new Unsatisfiable(`"${type}" is not a type`);
    }
  }

  function ofObject(wanted: Fields, depth: number): unknown {
    const properties = isFields(wanted.properties) ? wanted.properties : {};
    const others = wanted.additionalProperties;
    const required = new Set(listOf(wanted.required).map(String));
    const made = new Map<string, unknown>();
    for (const name of required) {
      made.set(name, make(Object.hasOwn(properties, name) ? properties[name] : others, depth + 1));
    }
    const [min, max] = [
      limitOf(wanted.minProperties) ?? 0,
      limitOf(wanted.maxProperties) ?? Infinity,
    ];
    for (const [name, property] of Object.entries(properties)) {
      const isWanted = depth < DEPTH_RICH || made.size < min;
      if (required.has(name) || !isWanted || made.size >= max) continue;
      try {
        made.set(name, make(property, depth + 1));
      } catch (error) {
        if (!(error instanceof Unsatisfiable)) throw error;
      }
    }
    for (let extra = 1; made.size < min; extra++) {
      if (!made.has(`extra_${extra}`)) made.set(`extra_${extra}`, make(others, depth + 1));
    }
    if (made.size > max) throw new Unsatisfiable("maxProperties is too small");
    // In the schema's order, and with any name at all, even `__proto__`.
    const names = new Set([...Object.keys(properties), ...made.keys()]);
    return Object.fromEntries(
      [...names].filter((name) => made.has(name)).map((name) => [name, made.get(name)]),
    );
  }

  function ofArray(wanted: Fields, depth: number): unknown[] {
    const prefix = listOf(wanted.prefixItems);
    const [min, max] = [limitOf(wanted.minItems) ?? 0, limitOf(wanted.maxItems) ?? Infinity];
    if (min > max) throw new Unsatisfiable("minItems is above maxItems");
    const usual = depth < DEPTH_RICH ? prefix.length + 1 + chance.below(ITEMS_USUAL) : 0;
    const count = Math.max(min, Math.min(max, usual));
    const made: unknown[] = [];
    const seen = new Set<string>();
    let repeated = 0;
    while (made.length < count) {
      const item = itemOf(wanted, made.length, depth, made.length < min);
      if (item === null) break;
      const text = JSON.stringify(item.value);
      if (wanted.uniqueItems === true && seen.has(text)) {
        if (++repeated < 50 * count) continue;
        if (made.length < min) throw new Unsatisfiable("items repeat");
        break;
      }
      seen.add(text);
      made.push(item.value);
    }
    return made;
  }

  /** The next item of an array; null when there can be none and need not. */
  function itemOf(
    wanted: Fields,
    at: number,
    depth: number,
    isNeeded: boolean,
  ): { value: unknown } | null {
    const prefix = listOf(wanted.prefixItems);
    try {
      return { value: make(at < prefix.length ? prefix[at] : wanted.items, depth + 1) };
    } catch (error) {
      if (error instanceof Unsatisfiable && !isNeeded) return null;
      throw error;
    }
  }

  function dereference(part: unknown): unknown {
    for (let hops = 0; isFields(part) && typeof part.$ref === "string"; hops++) {
      if (hops > DEPTH_MAX) throw new Unsatisfiable("references go in a circle");
      const { $ref, ...beside } = part;
      part = merged([resolve($ref), beside]);
    }
    return part;
  }

  function resolve(reference: string): unknown {
    if (!reference.startsWith("#")) throw new Unsatisfiable("a reference leads elsewhere");
    let found: unknown = schema;
    for (const step of unescaped(reference).split("/").slice(1)) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      found = typeof found === "object" && found !== null && Object.hasOwn(found, name)
        ? (found as Record<string, unknown>)[name]
        : undefined;
    }
    if (found === undefined) throw new Unsatisfiable("a reference leads nowhere");
    return found;
  }

  return make(schema, 0);
}

function unescaped(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    throw new Unsatisfiable("a reference cannot be read");
  }
}

function firstThatWorks<T>(options: readonly T[], attempt: (option: T) => unknown): unknown {
  let failure = new Unsatisfiable("there is nothing to choose from");
  for (const option of options) {
    try {
      return attempt(option);
    } catch (error) {
      if (!(error instanceof Unsatisfiable)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function typesOf(schema: Fields): readonly unknown[] {
  if (Array.isArray(schema.type)) return schema.type;
  if (typeof schema.type === "string") return [schema.type];
  const has = (...keys: string[]) => keys.some((key) => Object.hasOwn(schema, key));
  if (has("properties", "required", "additionalProperties", "minProperties")) return ["object"];
  if (has("items", "prefixItems", "minItems", "maxItems")) return ["array"];
  if (has("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")) {
    return ["number"];
  }
  return ["string"];
}

function isOfType(value: unknown, schema: Fields): boolean {
  if (schema.type === undefined) return true;
  const types = typesOf(schema);
  if (value === null) return types.includes("null");
  if (Array.isArray(value)) return types.includes("array");
  return types.includes(typeof value) || Number.isInteger(value) && types.includes("integer");
}

function isNull(branch: unknown): boolean {
  return isFields(branch) && branch.type === "null";
}

/** How much a branch may bring with it: where an instance is deep, the lightest goes first. */
function weightOf(branch: unknown): number {
  if (!isFields(branch)) return 0;
  if (branch.$ref !== undefined || branch.allOf !== undefined) return 3;
  if (branch.anyOf !== undefined || branch.oneOf !== undefined) return 2;
  if (listOf(branch.required).length > 0 || (limitOf(branch.minItems) ?? 0) > 0) return 2;
  return branch.properties !== undefined || branch.items !== undefined ? 1 : 0;
}
