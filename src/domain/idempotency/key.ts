import { createHash } from "node:crypto";
import { ApiError } from "../../lib/api_error.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Identifies a repeated request. */
export interface IdempotencyIdentity {
  readonly key: string;
  readonly path: string;
  /** SHA-256 of the body in its canonical form. */
  readonly bodyHash: string;
  /** The parameter or header that had the key. */
  readonly param: string;
}

/** Reads an `Idempotency-Key` or its equivalent; null if the client sent none. */
export function identifyRequest(
  key: string | null,
  path: string,
  body: unknown,
  param = "Idempotency-Key",
): IdempotencyIdentity | null {
  if (key === null) return null;
  checkIdempotencyKey(key, param);
  return { key, path, bodyHash: hashBody(body), param };
}

export function checkIdempotencyKey(key: string, param: string): void {
  if (KEY.test(key)) return;
  throw new ApiError("invalid_value", `${param} must be 1 to 255 visible ASCII characters.`, {
    param,
  });
}

export function keyReused({ param }: Pick<IdempotencyIdentity, "param">): ApiError {
  return new ApiError(
    "idempotency_key_reused",
    `This ${param} was used for another request: send a new one, or the same request.`,
    { param },
  );
}

/** The same for every way to write one JSON value: neither spaces nor the order of keys count. */
export function hashBody(body: unknown): string {
  return createHash("sha256").update(canonical(body)).digest("hex");
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const keys = Object.keys(part).sort();
    return Object.fromEntries(keys.map((key) => [key, (part as Record<string, unknown>)[key]]));
  }) ?? "null";
}
