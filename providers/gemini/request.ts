import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import {
  conversationOf,
  joinTexts,
  type Link,
  type Part,
  type Result,
  type Turn,
} from "../dialect/conversation.ts";
import { compact, type Json, record } from "../dialect/json.ts";
import * as parameters from "../dialect/parameters.ts";
import { refuse } from "../dialect/write.ts";
import { generationConfig } from "./generation.ts";
import { generationOf } from "./model.ts";

/**
 * Replaces the signature of a call's thinking, which an OpenAI client cannot send back. Models that require a
 * signature accept this value for "none".
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** The body of `generateContent` and of its stream. */
export function contentBody(request: ChatRequest, target: UpstreamTarget): Json {
  parameters.refuseShapes(request, ["audio", "functions"]);
  const { system, turns } = conversationOf(request);
  const use = parameters.toolUseOf(request);
  const signed = generationOf(target.model) === "levels";
  return compact({
    systemInstruction: system.length === 0 ? undefined : { parts: [{ text: joinTexts(system) }] },
    contents: turns.map((turn) => contentOf(turn, signed)),
    tools: use === null ? undefined : [{ functionDeclarations: use.tools.map(toolOf) }],
    toolConfig: use === null ? undefined : choiceOf(use),
    generationConfig: generationConfig(request, target),
  });
}

function contentOf({ role, parts }: Turn, signed: boolean): Json {
  const written = parts.flatMap(partsOf);
  const firstCall = written.findIndex((part) => "functionCall" in part);
  // The first call of a turn carries the signature for all of its calls.
  if (signed && firstCall >= 0) {
    written[firstCall] = { ...written[firstCall], thoughtSignature: NO_SIGNATURE };
  }
  return { role: role === "assistant" ? "model" : "user", parts: written };
}

function partsOf(part: Part): Json[] {
  switch (part.kind) {
    case "text":
      return [{ text: part.text }];
    case "bytes":
      return [{ inlineData: { mimeType: part.mime, data: part.base64 } }];
    case "link":
      return [{ fileData: compact({ fileUri: part.url, mimeType: mimeOf(part) }) }];
    case "call":
      return [{ functionCall: { id: part.id, name: part.name, args: part.input } }];
    case "result":
      return resultOf(part);
  }
}

/** Text goes into the response, which must be an object; images are separate parts. */
function resultOf({ id, name, parts }: Result): Json[] {
  const text = parts.map((part) => part.kind === "text" ? part.text : "").join("");
  const response = objectIn(text) ?? { output: text };
  const others = parts.filter(({ kind }) => kind !== "text").flatMap(partsOf);
  return [{ functionResponse: { id, name, response } }, ...others];
}

function objectIn(text: string): Json | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return record(JSON.parse(text));
  } catch {
    return null; // not JSON: a SyntaxError
  }
}

const MIMES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  heic: "image/heic",
};
/** Extensions of files that the provider would read and that cost far more tokens than an image. */
const LARGE = new Set(["pdf", "mp4", "mov", "mpeg", "mpg", "webm", "avi", "mp3", "wav", "flac"]);
/** Hosts of videos, and of files that our API key gives access to. */
const OTHER_HOSTS = /(?:^|\.)(?:youtube\.com|youtu\.be|youtube-nocookie\.com|googleapis\.com)$/;

/** The type of a linked image; undefined where its URL has no known extension. */
function mimeOf({ url, param }: Link): string | undefined {
  const ending = /\.([a-z0-9]{3,4})$/i.exec(url.split(/[?#]/, 1)[0]!)?.[1]?.toLowerCase() ?? "";
  if (LARGE.has(ending) || OTHER_HOSTS.test(URL.parse(url)?.hostname ?? "")) {
    refuse(param, "This model takes links to images only.");
  }
  return MIMES[ending];
}

function toolOf({ name, description, parameters }: parameters.Tool): Json {
  return compact({ name, description, parametersJsonSchema: parameters });
}

function choiceOf(use: parameters.ToolUse): Json | undefined {
  if (use.choice === "auto") return undefined;
  const mode = use.choice === "none" ? "NONE" : "ANY";
  const allowedFunctionNames = use.only === null ? undefined : [use.only];
  return { functionCallingConfig: compact({ mode, allowedFunctionNames }) };
}
