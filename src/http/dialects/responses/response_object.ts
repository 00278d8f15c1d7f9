import { inputTokens, outputTokens } from "../../../model_types/chat.ts";
import type { ResponsesRequest } from "../../../../schemas/requests.ts";
import type { FinishReason, ReportedUsage } from "../../../upstream/adapter.ts";
import type { Heading } from "../../../workflows/chat/dialect.ts";
import { responseIdOf } from "../../../workflows/tasks/response_of_task.ts";
import type { JsonFields } from "../translated.ts";

/** The part of ids that a response shares with its items. */
export function baseOf({ requestId }: Heading): string {
  return requestId.slice(4);
}

/** Usage in the format of Responses: input tokens include cached ones, output tokens include reasoning. */
export function responsesUsage(usage: ReportedUsage) {
  const { cachedInput, cacheWrite = 0, cacheWrite1h = 0, reasoning } = usage;
  const [input_tokens, output_tokens] = [inputTokens(usage), outputTokens(usage)];
  const writes = cacheWrite + cacheWrite1h;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: cachedInput,
      ...(writes > 0 ? { cache_write_tokens: writes } : {}),
    },
    output_tokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input_tokens + output_tokens,
  };
}

/** The fields of a response that repeat its request; they are the same in all of its events. */
export function echoedFields(heading: Heading, body: ResponsesRequest): JsonFields {
  const fields: JsonFields = body;
  const given = (name: string, otherwise: unknown = null) => fields[name] ?? otherwise;
  const { format = { type: "text" }, ...text } = given("text", {}) as JsonFields;
  const { effort = null, summary = null } = given("reasoning", {}) as JsonFields;
  return {
    id: responseIdOf(heading.requestId),
    object: "response",
    created_at: heading.created,
    background: given("background", false),
    instructions: given("instructions"),
    max_output_tokens: given("max_output_tokens"),
    max_tool_calls: given("max_tool_calls"),
    metadata: given("metadata", {}),
    model: heading.model,
    parallel_tool_calls: given("parallel_tool_calls", true),
    previous_response_id: given("previous_response_id"),
    prompt_cache_key: given("prompt_cache_key"),
    reasoning: { effort, summary },
    safety_identifier: given("safety_identifier"),
    service_tier: given("service_tier", "default"),
    store: given("store", true),
    temperature: given("temperature", 1),
    text: { format, ...text },
    tool_choice: given("tool_choice", "auto"),
    tools: given("tools", []),
    top_logprobs: given("top_logprobs", 0),
    top_p: given("top_p", 1),
    truncation: given("truncation", "disabled"),
    user: given("user"),
  };
}

/** The fields that change while a response is made. */
export interface Progress {
  readonly status:
    | "queued"
    | "in_progress"
    | "completed"
    | "incomplete"
    | "failed"
    | "cancelled";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly output: readonly object[];
  readonly usage: ReturnType<typeof responsesUsage> | null;
}

export const IN_PROGRESS: Progress = {
  status: "in_progress",
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
};

/** How a response ends whose answer ended for this reason. */
export function endOf(
  finish: FinishReason | null,
  output: readonly object[],
  usage: ReportedUsage,
): Progress {
  const reason = finish === "length"
    ? "max_output_tokens"
    : finish === "content_filter"
    ? "content_filter"
    : null;
  return {
    status: reason === null ? "completed" : "incomplete",
    error: null,
    incomplete_details: reason === null ? null : { reason },
    output,
    usage: responsesUsage(usage),
  };
}

/** Items as the client sees them: what is sealed is shown only where it asks for it. */
export function toClientItems(
  items: readonly object[],
  isEncryptedShown: boolean,
): readonly object[] {
  if (isEncryptedShown) return items;
  return items.map((item) => {
    if (!("encrypted_content" in item)) return item;
    const { encrypted_content: _, ...rest } = item;
    return rest;
  });
}
