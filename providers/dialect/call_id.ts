/**
 * An id for a tool call whose provider gave none: the same for the same answer, different between
 * answers, and telling nothing of the provider's own ids.
 */
export function callId(replyId: unknown, index: number): string {
  return `call_${digest(`${typeof replyId === "string" ? replyId : ""}#${index}`)}`;
}

/** 64 bits of FNV-1a in 16 hexadecimal digits: spread, not secrecy. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) {
    hash ^= BigInt(text.charCodeAt(at));
    hash = BigInt.asUintN(64, hash * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}
