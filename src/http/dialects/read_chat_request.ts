import { type ChatRequest, REQUESTS } from "../../../schemas/requests.ts";
import type { Model } from "../../platform/config/config.ts";
import type { ChatRequest as EngineRequest } from "../../upstream/adapter.ts";
import { readReasoning } from "./read_reasoning.ts";
import type { JsonFields, TranslatedChat } from "./translated.ts";

const LISTED = new Set(Object.keys(REQUESTS.chat_completions.schema.properties as object));
/** Fields of other APIs that mean one of OpenAI's. */
const OTHER_FORMS = new Set(["reasoning", "thinking", "usage"]);
const NONE: readonly string[] = [];

/**
 * A request of Chat Completions as the engine takes it: other forms of OpenAI's fields become those, and unknown fields
 * are left out. Most requests have neither and are taken as they are.
 */
export function readChatRequest(
  body: ChatRequest,
  { capabilities }: Pick<Model, "capabilities">,
): Pick<TranslatedChat, "request" | "ignored"> {
  for (const name in body) {
    if (!LISTED.has(name) || OTHER_FORMS.has(name)) {
      return rewritten(body, capabilities.has("reasoning"));
    }
  }
  return { request: body, ignored: NONE };
}

function rewritten(body: JsonFields, reasons: boolean) {
  const kept: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (!LISTED.has(name)) ignored.push(name);
    else if (!OTHER_FORMS.has(name)) kept[name] = value;
  }
  const { reasoning, usage, thinking } = body;
  if (asksForUsage(usage)) {
    kept.stream_options = {
      ...(kept.stream_options as JsonFields | undefined),
      include_usage: true,
    };
  }
  const asked = readOther(reasoning as JsonFields | undefined, thinking, reasons);
  ignored.push(...asked.ignored);
  // OpenAI's own field counts where a request has both.
  return { request: { ...asked.request, ...kept } as unknown as EngineRequest, ignored };
}

function asksForUsage(usage: unknown): boolean {
  return (usage as { include?: unknown } | undefined)?.include === true;
}

/** OpenRouter's `reasoning`, or else Anthropic's `thinking`. */
function readOther(reasoning: JsonFields | undefined, thinking: unknown, reasons: boolean) {
  if (reasoning === undefined) {
    return readReasoning(thinking, { name: "reasoning_effort", value: undefined }, reasons);
  }
  const { effort, max_tokens: budget, enabled, ...rest } = reasoning;
  const isOff = enabled === false || effort === "none";
  if (!reasons) return { request: {}, ignored: isOff ? NONE : ["reasoning"] };
  const value = isOff ? "none" : effort ?? (enabled === true ? "medium" : undefined);
  const asked = typeof budget === "number" && !isOff
    ? { type: "enabled", budget_tokens: budget }
    : undefined;
  const { request } = readReasoning(asked, { name: "reasoning.effort", value }, reasons);
  return { request, ignored: Object.keys(rest).map((name) => `reasoning.${name}`) };
}
