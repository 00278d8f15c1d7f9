/** A parameter as the OpenAPI document has it. */
export interface RouteParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export function query(
  name: string,
  description: string,
  schema: RouteParameter["schema"] = { type: "string" },
): RouteParameter {
  return { name, in: "query", description, schema };
}

/** A query parameter that is one of a few values. */
export function choice(
  name: string,
  description: string,
  values: readonly string[],
): RouteParameter {
  return query(name, description, { type: "string", enum: values });
}

function header(name: string, description: string): RouteParameter {
  return { name, in: "header", description, schema: { type: "string" } };
}

/** A parameter of the path, which has it in braces. */
export function inPath(name: string, description: string): RouteParameter {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

/** The parameters of every list. */
export const PAGE: readonly RouteParameter[] = [
  query("limit", "Number of entries on a page.", {
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 20,
  }),
  query("after", "`last_id` of the previous page: the page begins after this entry."),
  query("order", "Order by time of creation.", {
    type: "string",
    enum: ["asc", "desc"],
    default: "desc",
  }),
];

export const PERIOD: readonly RouteParameter[] = [
  query("from", "Only entries from this time on: a date with its offset, or Unix seconds."),
  query("to", "Only entries before this time: a date with its offset, or Unix seconds."),
];

const IDEMPOTENCY_KEY = header(
  "Idempotency-Key",
  "Your own name for this request, 1 to 255 visible ASCII characters. A repeated request with the same key " +
    "and body returns the task of the first one and is not charged again.",
);

/** The parameters of a request that a model answers at once. */
export const ANSWERED: readonly RouteParameter[] = [
  header(
    "Idempotency-Key",
    "Your own name for this request, 1 to 255 visible ASCII characters. A repeated request with the same key " +
      "and body within a day returns the first answer and is not charged again; while the first is under way it is " +
      "409 `idempotency_in_progress`.",
  ),
];

/** The parameters of a request that creates a task. */
export const SUBMISSION: readonly RouteParameter[] = [
  IDEMPOTENCY_KEY,
  header(
    "Prefer",
    "`wait=N`: respond when the task has ended, after N seconds at most (60 at most).",
  ),
];

export const SPEECH_SUBMISSION: readonly RouteParameter[] = [
  IDEMPOTENCY_KEY,
  header("Prefer", "`respond-async`: respond with a task instead of the audio."),
];

/** What makes a URL of this gateway valid without a key. */
export const SIGNATURE: readonly RouteParameter[] = [
  { ...query("expires", "Until when the URL is valid, in Unix seconds."), required: true },
  { ...query("signature", "Signature of the URL."), required: true },
];
