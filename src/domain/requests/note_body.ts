import type { OpenRequest } from "./open_request.ts";

/** Longer texts are left out: what waits to be written must stay small. */
const TEXT_MAX = 256;
/** As OpenAI limits `metadata`. */
const PAIRS_MAX = 16;
const NAME_MAX = 64;
const VALUE_MAX = 512;

/** Keeps what the log shows of a body, before the body is checked: a refused request names its model too. */
export function noteBody(request: OpenRequest, body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  const { model, user, metadata, stream } = body as Readonly<Record<string, unknown>>;
  if (isStorableText(model, TEXT_MAX)) request.model = model;
  if (isStorableText(user, TEXT_MAX)) request.user = user;
  if (typeof metadata === "object" && metadata !== null) request.metadata = keepPairs(metadata);
  request.isStream = stream === true;
}

/** The pairs that are short enough, a few of them. */
function keepPairs(metadata: object): Record<string, unknown> | null {
  const kept: Record<string, unknown> = {};
  let pairs = 0;
  for (const name in metadata) {
    const value: unknown = (metadata as Record<string, unknown>)[name];
    const isKept = typeof value === "number" || typeof value === "boolean" ||
      isStorableText(value, VALUE_MAX);
    if (!isKept || !isStorableText(name, NAME_MAX)) continue;
    kept[name] = value;
    if (++pairs === PAIRS_MAX) break;
  }
  return pairs === 0 ? null : kept;
}

/** One text that the database refuses would fail the rows that are written with it. */
function isStorableText(value: unknown, max: number): value is string {
  return typeof value === "string" && value.length <= max && value.isWellFormed() &&
    !value.includes("\0");
}
