/**
 * An id for a tool call that has none from its provider: equal for the same answer, different between
 * answers, and without information about the provider's own ids.
 */
export function callId(replyId: unknown, index: number): string {
  return `call_${digest(`${typeof replyId === "string" ? replyId : ""}#${index}`)}`;
}

/** 64 bits of FNV-1a in 16 hexadecimal digits. Well distributed, but not secret. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) {
    hash ^= BigInt(text.charCodeAt(at));
    hash = BigInt.asUintN(64, hash * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}
