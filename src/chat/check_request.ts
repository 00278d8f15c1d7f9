import { Refusal } from "../base/refusal.ts";
import { isSafeUrl } from "../outbound/check_url.ts";
import type { Model } from "../config/plan.ts";
import type { ChatRequest } from "../upstream/adapter.ts";

/** Refuses what the model does not declare: a client must not depend on what only one upstream can do. */
export function checkRequest(model: Model, request: ChatRequest): void {
  if (request.stream === true) need(model, "streaming", "stream");
  if (isAsked(request.tools) || isAsked(request.functions)) need(model, "tools", "tools");
  const format = (request.response_format as { type?: string } | null | undefined)?.type;
  if (format === "json_schema" || format === "json_object") {
    need(model, "json_schema", "response_format");
  }
  if (asksThought(request)) need(model, "reasoning", "reasoning_effort");
  if (isAsked(request.modalities) && request.modalities.some((kind) => kind !== "text")) {
    throw textOnly(model, "modalities");
  }
  if (isGiven(request.audio)) throw textOnly(model, "audio");
  request.messages.forEach(needContent);
  const { images, characters } = measure(request);
  if (images > 0) need(model, "vision", "messages");
  limit(model, "max_input_images", images, "messages", "pictures");
  if (characters > number(model, "max_prompt_length")) {
    throw new Refusal(
      "prompt_too_long",
      `The messages have ${characters} characters: ${model.id} takes ${
        number(model, "max_prompt_length")
      }.`,
      { param: "messages" },
    );
  }
  for (const name of ["max_completion_tokens", "max_tokens"]) {
    const asked = request[name];
    if (typeof asked === "number") limit(model, "max_output_tokens", asked, name, "tokens");
  }
}

function asksThought({ reasoning_effort: effort }: ChatRequest): boolean {
  return isGiven(effort) && effort !== "none";
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isAsked(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}

function textOnly({ id }: Model, param: string): Refusal {
  return new Refusal("capability_not_supported", `The model "${id}" answers with text only.`, {
    param,
  });
}

/** Only an assistant may have said nothing, when it did something else instead. */
function needContent(message: ChatRequest["messages"][number], at: number): void {
  if (isGiven(message.content) || message.role === "function") return;
  const isElse = isAsked(message.tool_calls) ||
    [message.function_call, message.refusal, message.audio].some(isGiven);
  if (message.role === "assistant" && isElse) return;
  const param = `messages.${at}.content`;
  throw new Refusal("missing_field", `The field ${param} is missing.`, { param });
}

function need(model: Model, capability: string, param: string): void {
  if (model.capabilities.has(capability)) return;
  throw new Refusal(
    "capability_not_supported",
    `The model "${model.id}" does not offer ${capability}.`,
    { param },
  );
}

function limit(model: Model, name: string, asked: number, param: string, what: string): void {
  const most = number(model, name);
  if (asked <= most) return;
  throw new Refusal(
    "invalid_value",
    `${param} may not be more than ${most} ${what} with "${model.id}".`,
    { param },
  );
}

function number(model: Model, name: string): number {
  const value = model.limits[name];
  return typeof value === "number" ? value : Infinity;
}

function measure({ messages }: ChatRequest): { images: number; characters: number } {
  let images = 0;
  let characters = 0;
  for (const [at, { content }] of messages.entries()) {
    if (typeof content === "string") characters += content.length;
    if (!Array.isArray(content)) continue;
    for (const [within, part] of (content as Part[]).entries()) {
      if (part?.type === "image_url") {
        images++;
        checkPicture(part.image_url, () => `messages.${at}.content.${within}.image_url`);
      } else if (typeof part?.text === "string") characters += part.text.length;
      else if (part?.type !== "refusal") {
        throw new Refusal(
          "capability_not_supported",
          `Messages cannot hold parts of type ${
            JSON.stringify(part?.type?.slice(0, 64))
          }: send text or image_url.`,
          { param: `messages.${at}.content.${within}.type` },
        );
      }
    }
  }
  return { images, characters };
}

interface Part {
  type?: string;
  text?: string;
  image_url?: unknown;
}

/** An upstream may fetch it from inside our network: only what anybody could fetch is passed on. */
function checkPicture(picture: unknown, place: () => string): void {
  const url = (picture as { url?: unknown } | null | undefined)?.url;
  if (typeof url === "string") {
    if (url.startsWith("data:") || isSafeUrl(url, { allowPrivate: false })) return;
    throw new Refusal(
      "unsafe_url",
      "Pictures must be data: URLs, or public https addresses without port or user.",
      { param: `${place()}.url` },
    );
  }
  const param = place();
  throw new Refusal(
    "invalid_value",
    `${param} must be an object with a url in a string, such as {"url": "https://example.com/a.png"}.`,
    { param },
  );
}
