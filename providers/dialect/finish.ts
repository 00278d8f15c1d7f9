import type { FinishReason } from "../../src/upstream/adapter.ts";
import type { FaultKind } from "./faults.ts";

/** How an answer ended: OpenAI's finish reason, or a failure that the provider reports as a finish reason. */
export type Ending = FinishReason | { readonly fault: FaultKind };

/** The endings that a provider's file may map a finish reason to. */
export type EndingName = FinishReason | "overloaded" | "failed";

const KNOWN: Readonly<Record<string, Ending>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
  function_call: "function_call",
  error: { fault: "failed" },
};

/** Reads `finish_reason`; null while the answer goes on. An unknown reason is still an end. */
export function endingReader(
  names: Readonly<Record<string, EndingName>> = {},
): (reason: unknown) => Ending | null {
  const endings = new Map(Object.entries(KNOWN));
  for (const [reason, name] of Object.entries(names)) {
    endings.set(reason, name === "overloaded" || name === "failed" ? { fault: name } : name);
  }
  return (reason) => {
    if (typeof reason !== "string" || reason === "") return null;
    return endings.get(reason) ?? "stop";
  };
}
