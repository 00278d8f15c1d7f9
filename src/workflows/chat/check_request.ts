import { contentParts, pathOf } from "../../lib/content_parts.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { OutboundPolicy } from "../../platform/outbound/check_url.ts";
import type { Model } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { ImageLink } from "../../platform/outbound/public_hosts.ts";
import { checkSchemas } from "./check_schemas.ts";
import { checkPart } from "./check_parts.ts";

type Message = ChatRequest["messages"][number];

interface MessageTotals {
  images: number;
  characters: number;
  linked: ImageLink[] | null;
}

/**
 * Rejects what the model's configuration does not offer: clients must not depend on what only one upstream
 * supports. Returns the images that an upstream would fetch, whose hosts are still to be checked; null: none.
 */
export function checkRequest(
  model: Model,
  request: ChatRequest,
  policy: OutboundPolicy,
): readonly ImageLink[] | null {
  if (request.stream === true) need(model, "streaming", "stream");
  if (isAsked(request.tools) || isAsked(request.functions)) need(model, "tools", "tools");
  const format = (request.response_format as { type?: string } | null | undefined)?.type;
  if (format === "json_schema" || format === "json_object") {
    need(model, "json_schema", "response_format");
  }
  if (asksForReasoning(request)) need(model, "reasoning", "reasoning_effort");
  if (isAsked(request.modalities) && request.modalities.some((kind) => kind !== "text")) {
    throw textOnly(model, "modalities");
  }
  if (isGiven(request.audio)) throw textOnly(model, "audio");
  request.messages.forEach((message, at) => checkMessage(model, message, at));
  checkPrediction(request.prediction);
  checkSchemas(request);
  const { images, characters, linked } = measure(request, policy);
  if (images > 0) need(model, "vision", "messages");
  checkLimit(model, { name: "max_input_images", value: images, param: "messages", unit: "images" });
  if (characters > number(model, "max_prompt_length")) {
    throw new ApiError(
      "prompt_too_long",
      `The messages have ${characters} characters. The limit of ${model.id} is ${
        number(model, "max_prompt_length")
      }.`,
      { param: "messages" },
    );
  }
  for (const name of ["max_completion_tokens", "max_tokens"]) {
    const asked = request[name];
    if (typeof asked === "number") {
      checkLimit(model, {
        name: "max_output_tokens",
        value: asked,
        param: name,
        unit: "tokens",
      });
    }
  }
  return linked;
}

function asksForReasoning({ reasoning_effort: effort }: ChatRequest): boolean {
  return isGiven(effort) && effort !== "none";
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isAsked(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}

function textOnly({ id }: Model, param: string): ApiError {
  return new ApiError("capability_not_supported", `The model "${id}" returns text only.`, {
    param,
  });
}

function checkMessage(model: Model, message: Message, at: number): void {
  // It refers to an earlier audio answer, which no model here can have given.
  if (isGiven(message.audio)) throw textOnly(model, `messages.${at}.audio`);
  if (isAsked(message.tool_calls)) {
    message.tool_calls.forEach((call, within) =>
      checkCall(call, `messages.${at}.tool_calls.${within}`)
    );
  }
  needContent(message, at);
}

function checkCall(call: unknown, param: string): void {
  const { type = "function", function: called } = call as { type?: unknown; function?: unknown };
  if (type !== "function") {
    throw new ApiError("capability_not_supported", `${param}.type must be function.`, {
      param: `${param}.type`,
    });
  }
  if (typeof called === "object" && called !== null && !Array.isArray(called)) return;
  throw new ApiError("invalid_value", `${param}.function must be an object.`, {
    param: `${param}.function`,
  });
}

/** A predicted answer is text, whole or in parts. */
function checkPrediction(prediction: unknown): void {
  const content = (prediction as { content?: unknown } | null | undefined)?.content;
  if (!Array.isArray(content)) return;
  const odd = content.findIndex((part) =>
    part?.type !== "text" || typeof part.text !== "string" || Object.keys(part).length > 2
  );
  if (odd === -1) return;
  const param = `prediction.content.${odd}`;
  throw new ApiError("invalid_value", `${param} must be a part with type text and a text.`, {
    param,
  });
}

/** Only an assistant message may have no content, if it has tool calls or a refusal instead. */
function needContent(message: Message, at: number): void {
  if (isGiven(message.content) || message.role === "function") return;
  const isElse = isAsked(message.tool_calls) ||
    [message.function_call, message.refusal].some(isGiven);
  if (message.role === "assistant" && isElse) return;
  const param = `messages.${at}.content`;
  throw new ApiError("missing_field", `The field ${param} is missing.`, { param });
}

function need(model: Model, capability: string, param: string): void {
  if (model.capabilities.has(capability)) return;
  throw new ApiError(
    "capability_not_supported",
    `The model "${model.id}" does not support ${capability}.`,
    { param },
  );
}

interface LimitedValue {
  readonly name: string;
  readonly value: number;
  readonly param: string;
  readonly unit: string;
}

function checkLimit(model: Model, { name, value, param, unit }: LimitedValue): void {
  const max = number(model, name);
  if (value <= max) return;
  throw new ApiError(
    "invalid_value",
    `${param} may not be more than ${max} ${unit} with "${model.id}".`,
    { param },
  );
}

function number(model: Model, name: string): number {
  const value = model.limits[name];
  return typeof value === "number" ? value : Infinity;
}

/** Checks every part of the messages and counts images and characters. */
function measure(request: ChatRequest, policy: OutboundPolicy): MessageTotals {
  let images = 0;
  let characters = 0;
  let linked: ImageLink[] | null = null;
  for (const part of contentParts(request)) {
    checkPart(part, policy);
    characters += part.text?.length ?? 0;
    if (part.image === null) continue;
    images++;
    if (part.image.kind === "url") {
      (linked ??= []).push({ url: part.image.url, param: `${pathOf(part)}.image_url.url` });
    }
  }
  for (const message of request.messages) characters += besideContent(message);
  return { images, characters, linked };
}

/** Characters outside the content that the model reads too. */
function besideContent({ refusal, reasoning_content, tool_calls, function_call }: Message): number {
  let characters = lengthOf(refusal) + lengthOf(reasoning_content) + calledLength(function_call);
  if (Array.isArray(tool_calls)) {
    for (const call of tool_calls) characters += calledLength(call?.function);
  }
  return characters;
}

function calledLength(value: unknown): number {
  const called = value as { name?: unknown; arguments?: unknown } | null | undefined;
  return lengthOf(called?.name) + lengthOf(called?.arguments);
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
