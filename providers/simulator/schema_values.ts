import type { Chance } from "./chance.ts";
import type { Fields } from "./fields.ts";

/** Thrown where a schema asks for something that cannot be, or that the simulator cannot find. */
export class Unsatisfiable extends Error {}

/** A value of each format that validators know. */
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
export function stringFor(schema: Fields, words: readonly string[], chance: Chance): string {
  const format = FORMATS[String(schema.format)];
  if (format !== undefined) return format;
  const given = [...listOf(schema.examples), schema.default].find((one) => typeof one === "string");
  if (typeof schema.pattern === "string" && typeof given === "string") return given;
  const [min, max] = [limitOf(schema.minLength) ?? 0, limitOf(schema.maxLength) ?? Infinity];
  if (min > max) throw new Unsatisfiable("minLength is above maxLength");
  if (min > LENGTH_MAX) throw new Unsatisfiable("minLength is too long");
  const text = [...chance.pick(words)];
  while (text.length < min) text.push(" ", ...chance.pick(words));
  // Cut no shorter than must be; a space at the end is as good as a letter.
  const room = Math.max(min, Math.min(max, text.length));
  return text.slice(0, room).join("");
}

export function integerFor(schema: Fields, chance: Chance): number {
  return numberFor(schema, chance, true);
}

export function numberFor(schema: Fields, chance: Chance, isInteger = false): number {
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
    ? decimalBetween(least, most, fits, chance)
    : multipleBetween(least, most, step, fits, chance);
  if (value === undefined) throw new Unsatisfiable("no number is in the range");
  return value;
}

function multipleBetween(
  least: number,
  most: number,
  step: number,
  fits: (value: number) => boolean,
  chance: Chance,
): number | undefined {
  const first = least > -Infinity
    ? Math.ceil(least / step)
    : Math.min(1, Math.floor(most / step) - STEPS_MAX + 1);
  const last = Math.min(first + STEPS_MAX - 1, Math.floor(most / step));
  const steps = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  // Not every multiple of 0.1 is one to a validator, and an integer must fall on a whole number.
  return chance.shuffle(steps).map((count) => Number((count * step).toPrecision(15)) + 0).find(
    fits,
  );
}

function decimalBetween(
  least: number,
  most: number,
  fits: (value: number) => boolean,
  chance: Chance,
): number | undefined {
  const low = least > -Infinity ? least : Math.min(0, most - STEPS_MAX);
  const high = most < Infinity ? most : Math.max(low + STEPS_MAX, STEPS_MAX);
  const between = low + (high - low) * (1 + chance.below(98)) / 100;
  return [Number(between.toFixed(2)), between, low, high].map((value) => value + 0).find(fits);
}

export function limitOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
