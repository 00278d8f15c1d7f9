import { contentParts, pathOf } from "../../lib/content_parts.ts";
import { ApiError } from "../../lib/api_error.ts";
import { isAsked, isGiven } from "../../lib/given.ts";
import type { OutboundPolicy } from "../../platform/outbound/check_url.ts";
import type { Model } from "../../platform/config/config.ts";
import {
  checkChatCapabilities,
  checkChatLimits,
  type MessageTotals,
  textOnly,
} from "../../model_types/chat.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { ImageLink } from "../../platform/outbound/public_hosts.ts";
import { checkSchemas } from "./check_schemas.ts";
import { checkPart } from "./check_parts.ts";

type Message = ChatRequest["messages"][number];

interface MeasuredMessages extends MessageTotals {
  readonly linked: ImageLink[] | null;
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
  checkChatCapabilities(model, request);
  request.messages.forEach((message, at) => checkMessage(model, message, at));
  checkPrediction(request.prediction);
  checkSchemas(request);
  const measured = measure(request, policy);
  checkChatLimits(model, measured);
  return measured.linked;
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

/** Checks every part of the messages and counts images and characters. */
function measure(request: ChatRequest, policy: OutboundPolicy): MeasuredMessages {
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
