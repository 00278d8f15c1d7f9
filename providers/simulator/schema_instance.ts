import type { SeededRandom } from "./random.ts";
import { isJsonObject, type JsonObject } from "./fields.ts";
import {
  integerFor,
  limitOf,
  listOf,
  numberFor,
  stringFor,
  UnsatisfiableSchema,
} from "./schema_values.ts";
import { mergeSchemas } from "./schema_merge.ts";
import { WORK_MAX, workOf } from "./schema_work.ts";

/** Deeper values contain only what the schema requires. */
const DEPTH_RICH = 4;
const DEPTH_MAX = 40;
const VALUES_MAX = 5_000;
const ITEMS_DEFAULT = 3;

/**
 * A value that is valid for the JSON Schema, with words of the prompt in its strings. It supports types,
 * `enum`, `const`, ranges, lengths, formats, objects, arrays, `allOf`, `anyOf`, `oneOf` and references
 * within the schema; it ignores `pattern`, `not`, `if` and `contains`.
 *
 * json-schema-faker 0.6.3 does not replace it: a client's schema runs on the gateway's thread, and that
 * package has no limit of work (27 s for `minLength: 1e7`), makes invalid values below its depth limit and
 * for schemas that no value satisfies, and takes no words for strings.
 */
export function instanceOf(
  schema: unknown,
  words: readonly string[],
  random: SeededRandom,
): unknown {
  return new InstanceMaker(schema, words, random).make();
}

class InstanceMaker {
  #values = 0;
  #work = 0;

  constructor(
    private readonly schema: unknown,
    private readonly words: readonly string[],
    private readonly random: SeededRandom,
  ) {}

  make(): unknown {
    return this.#make(this.schema, 0);
  }

  #make(schemaPart: unknown, depth: number): unknown {
    if (++this.#values > VALUES_MAX || depth > DEPTH_MAX) {
      throw new UnsatisfiableSchema("it never ends");
    }
    this.#spend(schemaPart);
    if (schemaPart === true || schemaPart === undefined) {
      return stringFor({}, this.words, this.random);
    }
    if (!isJsonObject(schemaPart)) throw new UnsatisfiableSchema("nothing is allowed");
    if (typeof schemaPart.$ref === "string") {
      const { $ref, ...beside } = schemaPart;
      return this.#make(this.#merged([this.#resolve($ref), beside]), depth + 1);
    }
    if (Object.hasOwn(schemaPart, "const")) return schemaPart.const;
    if (Array.isArray(schemaPart.enum)) return this.#ofEnum(schemaPart);
    if (Array.isArray(schemaPart.allOf)) {
      const { allOf, ...beside } = schemaPart;
      return this.#make(
        this.#merged([...allOf.map((part) => this.#dereference(part)), beside]),
        depth + 1,
      );
    }
    for (const key of ["anyOf", "oneOf"]) {
      if (Array.isArray(schemaPart[key])) return this.#ofBranches(schemaPart, key, depth);
    }
    return this.#ofTypes(schemaPart, depth);
  }

  /** A schema may be as large as a request and is read again for every value: the total work is limited. */
  #spend(part: unknown): void {
    this.#work += workOf(part);
    if (this.#work > WORK_MAX) throw new UnsatisfiableSchema("it is too large");
  }

  #merged(parts: readonly unknown[]): unknown {
    parts.forEach((part) => this.#spend(part));
    return mergeSchemas(parts);
  }

  #ofEnum(schemaPart: JsonObject): unknown {
    const fitting = listOf(schemaPart.enum).filter((one) => isOfType(one, schemaPart));
    if (fitting.length === 0) throw new UnsatisfiableSchema("enum is empty");
    return this.random.pick(fitting);
  }

  #ofBranches(schemaPart: JsonObject, key: string, depth: number): unknown {
    const { [key]: list, ...beside } = schemaPart;
    const branches = depth < DEPTH_RICH
      ? this.random.shuffle(listOf(list)).sort((a, b) => Number(isNull(a)) - Number(isNull(b)))
      : [...listOf(list)].sort((a, b) => weightOf(a) - weightOf(b));
    return firstSatisfiable(
      branches,
      (branch) => this.#make(this.#merged([this.#dereference(branch), beside]), depth + 1),
    );
  }

  #ofTypes(schemaPart: JsonObject, depth: number): unknown {
    const types = typesOf(schemaPart);
    const [last, first] = [
      types.filter((one) => one === "null"),
      types.filter((one) => one !== "null"),
    ];
    const directive = depth < DEPTH_RICH ? [...first, ...last] : [...last, ...first];
    return firstSatisfiable(directive, (type) => this.#ofType(schemaPart, type, depth));
  }

  #ofType(schemaPart: JsonObject, type: unknown, depth: number): unknown {
    switch (type) {
      case "object":
        return this.#ofObject(schemaPart, depth);
      case "array":
        return this.#ofArray(schemaPart, depth);
      case "string":
        return stringFor(schemaPart, this.words, this.random);
      case "integer":
        return integerFor(schemaPart, this.random);
      case "number":
        return numberFor(schemaPart, this.random);
      case "boolean":
        return this.random.below(2) === 0;
      case "null":
        return null;
      default:
        throw new UnsatisfiableSchema(`"${type}" is not a type`);
    }
  }

  #ofObject(schemaPart: JsonObject, depth: number): unknown {
    const properties = isJsonObject(schemaPart.properties) ? schemaPart.properties : {};
    const others = schemaPart.additionalProperties;
    const required = new Set(listOf(schemaPart.required).map(String));
    const made = new Map<string, unknown>();
    for (const name of required) {
      made.set(
        name,
        this.#make(Object.hasOwn(properties, name) ? properties[name] : others, depth + 1),
      );
    }
    const [min, max] = [
      limitOf(schemaPart.minProperties) ?? 0,
      limitOf(schemaPart.maxProperties) ?? Infinity,
    ];
    for (const [name, property] of Object.entries(properties)) {
      const isWanted = depth < DEPTH_RICH || made.size < min;
      if (required.has(name) || !isWanted || made.size >= max) continue;
      try {
        made.set(name, this.#make(property, depth + 1));
      } catch (error) {
        if (!(error instanceof UnsatisfiableSchema)) throw error;
      }
    }
    for (let extra = 1; made.size < min; extra++) {
      if (!made.has(`extra_${extra}`)) made.set(`extra_${extra}`, this.#make(others, depth + 1));
    }
    if (made.size > max) throw new UnsatisfiableSchema("maxProperties is too small");
    // In the schema's order, and with any name at all, even `__proto__`.
    const names = new Set([...Object.keys(properties), ...made.keys()]);
    return Object.fromEntries(
      [...names].filter((name) => made.has(name)).map((name) => [name, made.get(name)]),
    );
  }

  #ofArray(schemaPart: JsonObject, depth: number): unknown[] {
    const prefix = listOf(schemaPart.prefixItems);
    const [min, max] = [
      limitOf(schemaPart.minItems) ?? 0,
      limitOf(schemaPart.maxItems) ?? Infinity,
    ];
    if (min > max) throw new UnsatisfiableSchema("minItems is above maxItems");
    const byDefault = depth < DEPTH_RICH ? prefix.length + 1 + this.random.below(ITEMS_DEFAULT) : 0;
    const count = Math.max(min, Math.min(max, byDefault));
    const made: unknown[] = [];
    const seen = new Set<string>();
    let repeated = 0;
    while (made.length < count) {
      const item = this.#itemOf(schemaPart, made.length, depth, made.length < min);
      if (item === null) break;
      const text = JSON.stringify(item.value);
      if (schemaPart.uniqueItems === true && seen.has(text)) {
        if (++repeated < 50 * count) continue;
        if (made.length < min) throw new UnsatisfiableSchema("items repeat");
        break;
      }
      seen.add(text);
      made.push(item.value);
    }
    return made;
  }

  /** The next item of an array; null where the schema allows none and requires none. */
  #itemOf(
    schemaPart: JsonObject,
    at: number,
    depth: number,
    isNeeded: boolean,
  ): { value: unknown } | null {
    const prefix = listOf(schemaPart.prefixItems);
    try {
      return { value: this.#make(at < prefix.length ? prefix[at] : schemaPart.items, depth + 1) };
    } catch (error) {
      if (error instanceof UnsatisfiableSchema && !isNeeded) return null;
      throw error;
    }
  }

  #dereference(part: unknown): unknown {
    for (let hops = 0; isJsonObject(part) && typeof part.$ref === "string"; hops++) {
      if (hops > DEPTH_MAX) throw new UnsatisfiableSchema("references go in a circle");
      const { $ref, ...beside } = part;
      part = this.#merged([this.#resolve($ref), beside]);
    }
    return part;
  }

  #resolve(reference: string): unknown {
    if (!reference.startsWith("#")) throw new UnsatisfiableSchema("a reference leads elsewhere");
    let found: unknown = this.schema;
    for (const step of unescaped(reference).split("/").slice(1)) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      found = typeof found === "object" && found !== null && Object.hasOwn(found, name)
        ? (found as Record<string, unknown>)[name]
        : undefined;
    }
    if (found === undefined) throw new UnsatisfiableSchema("a reference leads nowhere");
    return found;
  }
}

function unescaped(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    // A URIError: a percent sign without two digits.
    throw new UnsatisfiableSchema("a reference cannot be read");
  }
}

function firstSatisfiable<T>(options: readonly T[], attempt: (option: T) => unknown): unknown {
  let failure = new UnsatisfiableSchema("there is nothing to choose from");
  for (const option of options) {
    try {
      return attempt(option);
    } catch (error) {
      if (!(error instanceof UnsatisfiableSchema)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function typesOf(schema: JsonObject): readonly unknown[] {
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

function isOfType(value: unknown, schema: JsonObject): boolean {
  if (schema.type === undefined) return true;
  const types = typesOf(schema);
  if (value === null) return types.includes("null");
  if (Array.isArray(value)) return types.includes("array");
  return types.includes(typeof value) || Number.isInteger(value) && types.includes("integer");
}

function isNull(branch: unknown): boolean {
  return isJsonObject(branch) && branch.type === "null";
}

/** How large the values of a branch may be: in deep values the smallest branch goes first. */
function weightOf(branch: unknown): number {
  if (!isJsonObject(branch)) return 0;
  if (branch.$ref !== undefined || branch.allOf !== undefined) return 3;
  if (branch.anyOf !== undefined || branch.oneOf !== undefined) return 2;
  if (listOf(branch.required).length > 0 || (limitOf(branch.minItems) ?? 0) > 0) return 2;
  return branch.properties !== undefined || branch.items !== undefined ? 1 : 0;
}
