import { type Json, record } from "../dialect/json.ts";
import { findSyntaxError, isExpression } from "./expression.ts";

/** Something wrong with a provider's `media` that its schema cannot say. */
export interface Finding {
  readonly path: readonly string[];
  readonly message: string;
}

/** Looks at files whose shape may be wrong, so that all faults come at once. */
export function* findMediaFaults(file: unknown): Generator<Finding> {
  const { media, hosts } = record(file) ?? {};
  yield* findInside(media, ["media"], record(hosts) ?? {});
  for (const [type, declared] of Object.entries(record(media) ?? {})) {
    const outputs = record(record(declared)?.outputs);
    if (outputs === null) continue;
    const given = ["url", "base64", "bytes"].filter((name) => outputs[name] !== undefined);
    if (given.length === 1) continue;
    yield { path: ["media", type, "outputs"], message: "must have one of url, base64, bytes" };
  }
}

function* findInside(value: unknown, path: readonly string[], hosts: Json): Generator<Finding> {
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
    yield* findInside(member, [...path, key], hosts);
  }
}
