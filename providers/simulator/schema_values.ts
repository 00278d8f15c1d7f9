import type { SeededRandom } from "./random.ts";
import type { JsonObject } from "./fields.ts";

/** No value satisfies the schema, or the simulator finds none. */
export class UnsatisfiableSchema extends Error {}

/** A valid value of each format. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2025-03-01T12:00:00Z",
  "date": "2025-03-01",
  "time": "12:00:00Z",
  "duration": "PT15M",
  "email": "ada@example.com",
  "idn-email": "ada@example.com",
  "hostname": "www.example.com",
  "idn-hostname": "www.example.com",
  "ipv4": "192.0.2.7",
  "ipv6": "2001:db8::7",
  "uri": "https://example.com/tide",
  "url": "https://example.com/tide",
  "uri-reference": "/tide",
  "iri": "https://example.com/tide",
  "iri-reference": "/tide",
  "uuid": "7b1f5c9e-4b1d-4c7e-9a53-2f60d5a3c011",
  "json-pointer": "/tide",
  "regex": "^tide$",
};

const STEPS_MAX = 100;
const LENGTH_MAX = 100_000;

/** Words of the prompt, as many as fit, or a value of the format that is asked for. */
export function stringFor(
  schema: JsonObject,
  words: readonly string[],
  random: SeededRandom,
): string {
  const format = FORMATS[String(schema.format)];
  if (format !== undefined) return format;
  const given = [...listOf(schema.examples), schema.default].find((one) => typeof one === "string");
  if (typeof schema.pattern === "string" && typeof given === "string") return given;
  const [min, max] = [limitOf(schema.minLength) ?? 0, limitOf(schema.maxLength) ?? Infinity];
  if (min > max) throw new UnsatisfiableSchema("minLength is above maxLength");
  if (min > LENGTH_MAX) throw new UnsatisfiableSchema("minLength is too long");
  const text = [...random.pick(words)];
  while (text.length < min) text.push(" ", ...random.pick(words));
  // Cut to at least `minLength`.
  const length = Math.max(min, Math.min(max, text.length));
  return text.slice(0, length).join("");
}

export function integerFor(schema: JsonObject, random: SeededRandom): number {
  return numberFor(schema, random, true);
}

export function numberFor(schema: JsonObject, random: SeededRandom, isInteger = false): number {
  const least = Math.max(
    limitOf(schema.minimum) ?? -Infinity,
    limitOf(schema.exclusiveMinimum) ?? -Infinity,
  );
  const most = Math.min(
    limitOf(schema.maximum) ?? Infinity,
    limitOf(schema.exclusiveMaximum) ?? Infinity,
  );
  const step = limitOf(schema.multipleOf) ?? (isInteger ? 1 : null);
  const fits = (value: number) =>
    value >= least && value <= most && value !== limitOf(schema.exclusiveMinimum) &&
    value !== limitOf(schema.exclusiveMaximum) && (!isInteger || Number.isInteger(value)) &&
    (step === null || Number.isInteger(value / step));
  const value = step === null
    ? decimalBetween({ least, most, fits }, random)
    : multipleBetween({ least, most, fits }, step, random);
  if (value === undefined) throw new UnsatisfiableSchema("no number is in the range");
  return value;
}

interface NumberRange {
  readonly least: number;
  readonly most: number;
  fits(value: number): boolean;
}

function multipleBetween(
  { least, most, fits }: NumberRange,
  step: number,
  random: SeededRandom,
): number | undefined {
  const first = least > -Infinity
    ? Math.ceil(least / step)
    : Math.min(1, Math.floor(most / step) - STEPS_MAX + 1);
  const last = Math.min(first + STEPS_MAX - 1, Math.floor(most / step));
  const steps = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  // Validators compute with floating point, so that some multiples of 0.1 are invalid for them.
  return random.shuffle(steps).map((count) => Number((count * step).toPrecision(15)) + 0).find(
    fits,
  );
}

function decimalBetween(
  { least, most, fits }: NumberRange,
  random: SeededRandom,
): number | undefined {
  const low = least > -Infinity ? least : Math.min(0, most - STEPS_MAX);
  const high = most < Infinity ? most : Math.max(low + STEPS_MAX, STEPS_MAX);
  const between = low + (high - low) * (1 + random.below(98)) / 100;
  return [Number(between.toFixed(2)), between, low, high].map((value) => value + 0).find(fits);
}

export function limitOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
