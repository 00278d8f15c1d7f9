import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { AnswerPart, ChatChunk, ChatReply, ChatRequest } from "./adapter.ts";

/**
 * Signatures of reasoning and reasoning in redacted form, as clients see them. They name the provider and its model to
 * anyone who decodes them, so clients get them encrypted, bound to the upstream that takes them back.
 */
export interface ThinkingSeals {
  show(secret: string, origin: string): string;
  /** What was shown; null for anything that this upstream did not give. */
  restore(shown: string, origin: string): string | null;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Fields = Readonly<Record<string, unknown>>;

export function openThinkingSeals(keys: () => readonly Uint8Array[]): ThinkingSeals {
  return {
    show(secret, origin) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keys()[0]!, nonce);
      cipher.setAAD(Buffer.from(origin));
      const parts = [nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(parts).toString("base64");
    },
    restore(shown, origin) {
      const bytes = Buffer.from(shown, "base64");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      for (const key of keys()) {
        const cipher = createDecipheriv(
          "aes-256-gcm",
          key,
          bytes.subarray(0, NONCE_BYTES),
          { authTagLength: TAG_BYTES },
        );
        cipher.setAAD(Buffer.from(origin));
        cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        try {
          const text = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
          return Buffer.concat([text, cipher.final()]).toString("utf8");
        } catch {
          // Sealed with another key, for another upstream, or not by us: the check of the tag fails.
        }
      }
      return null;
    },
  };
}

/**
 * The request with the upstream's own signatures. Reasoning of another upstream loses its signature, and redacted
 * reasoning of another upstream is left out: no other upstream could read it.
 */
export function restoreThinking(
  seals: ThinkingSeals,
  request: ChatRequest,
  origin: string,
): ChatRequest {
  let messages: Fields[] | null = null;
  for (let at = 0; at < request.messages.length; at++) {
    const message = request.messages[at]!;
    if (message.role !== "assistant" || !Array.isArray(message.content)) continue;
    if (!message.content.some(isSealed)) continue;
    messages ??= [...request.messages];
    messages[at] = {
      ...message,
      content: message.content.flatMap((part: Fields) => restorePart(seals, part, origin)),
    };
  }
  return messages === null ? request : { ...request, messages };
}

function isSealed(part: Fields | null): boolean {
  return part?.type === "thinking" || part?.type === "redacted_thinking";
}

function restorePart(seals: ThinkingSeals, part: Fields, origin: string): Fields[] {
  if (part.type === "redacted_thinking") {
    const data = seals.restore(String(part.data), origin);
    return data === null ? [] : [{ ...part, data }];
  }
  if (part.type !== "thinking") return [part];
  const { signature: shown, ...unsigned } = part;
  const signature = typeof shown === "string" ? seals.restore(shown, origin) : null;
  return [signature === null ? unsigned : { ...unsigned, signature }];
}

/** The answer with sealed signatures. */
export function sealReply(seals: ThinkingSeals, reply: ChatReply, origin: string): ChatReply {
  if (!reply.choices.some(({ message }) => message.parts !== undefined)) return reply;
  const choices = reply.choices.map((choice) => {
    const parts = choice.message.parts?.map((part) => sealPart(seals, part, origin));
    return parts === undefined ? choice : { ...choice, message: { ...choice.message, parts } };
  });
  return { ...reply, choices };
}

function sealPart(seals: ThinkingSeals, part: AnswerPart, origin: string): AnswerPart {
  if (part.type === "redacted_thinking") return { ...part, data: seals.show(part.data, origin) };
  if (part.type !== "thinking" || part.signature === undefined) return part;
  return { ...part, signature: seals.show(part.signature, origin) };
}

/** The chunk with a sealed signature. */
export function sealChunk(seals: ThinkingSeals, chunk: ChatChunk, origin: string): ChatChunk {
  const { thinking } = chunk;
  if (thinking === undefined) return chunk;
  return {
    ...chunk,
    thinking: "signature" in thinking
      ? { signature: seals.show(thinking.signature, origin) }
      : { redacted: seals.show(thinking.redacted, origin) },
  };
}
