import { escapeReferences } from "../../../lib/yaml/references.ts";

const SECRET_NAME = /key|token|secret|password|credential|auth/i;
/** Fields whose names only look like those of secrets. */
const HARMLESS =
  /^(?:max_(?:completion_|output_)?tokens|min_tokens|budget_tokens|prompt_cache_key)$/;
const CHARACTERS_MAX = 10_000;
const KEYS_MAX = 64;

/** Fields for every request, as they can be copied into a file; null if one of them may be a secret. */
export function copyableBody(
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> | null {
  const text = JSON.stringify(body);
  if (text.length > CHARACTERS_MAX || Object.keys(body).length > KEYS_MAX) return null;
  let isSecret = false;
  const copied = JSON.parse(text, (name, value) => {
    if (SECRET_NAME.test(name) && !HARMLESS.test(name)) isSecret = true;
    return typeof value === "string" ? escapeReferences(value) : value;
  });
  return isSecret || Object.keys(copied).length === 0 ? null : copied;
}
