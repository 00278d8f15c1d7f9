import type { Heading } from "../../../workflows/chat/dialect.ts";

/** The fields that a message begins with, whole or streamed. */
export function messageHead({ requestId, model }: Heading) {
  return { id: `msg_${requestId.slice(4)}`, type: "message", role: "assistant", model };
}
