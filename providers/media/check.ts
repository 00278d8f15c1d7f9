import { type Json, record } from "../dialect/json.ts";
import { findSyntaxError, isExpression } from "./expression.ts";

/** An error in a provider's `media` that the schema cannot express. */
export interface Finding {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Accepts files that do not match the schema, so that all faults are reported together. */
export function* findMediaFaults(file: unknown): Generator<Finding> {
  const { media, hosts } = record(file) ?? {};
  yield* findInside(media, ["media"], record(hosts) ?? {});
  for (const [type, rules] of Object.entries(record(media) ?? {})) {
    const outputs = record(record(rules)?.outputs);
    if (outputs === null) continue;
    const given = ["url", "base64", "bytes"].filter((name) => outputs[name] !== undefined);
    if (given.length === 1) continue;
    yield { path: ["media", type, "outputs"], message: "must have one of url, base64, bytes" };
  }
}

function* findInside(value: unknown, path: Finding["path"], hosts: Json): Generator<Finding> {
  if (isExpression(value)) {
    const error = findSyntaxError(value);
    if (error !== null) yield { path, message: `cannot be read: ${error}` };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const { host, path: isRequest } = value as Json;
  if (typeof host === "string" && isRequest !== undefined && !Object.hasOwn(hosts, host)) {
    yield { path: [...path, "host"], message: `there is no host "${host}"` };
  }
  for (const [key, member] of Object.entries(value)) {
    yield* findInside(member, [...path, Array.isArray(value) ? Number(key) : key], hosts);
  }
}
