import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import {
  conversationOf,
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
 * What stands for the signature of a call's thoughts, which a client of OpenAI's shape cannot send
 * back. Models that want one take this word for "there is none".
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** The body of `generateContent` and of its stream. */
export function contentBody(request: ChatRequest, target: UpstreamTarget): Json {
  parameters.refuseShapes(request, ["audio", "functions"]);
  const { system, turns } = conversationOf(request);
  const use = parameters.toolUseOf(request);
  const signed = generationOf(target.model) === "levels";
  return compact({
    systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
    contents: turns.map((turn) => contentOf(turn, signed)),
    tools: use === null ? undefined : [{ functionDeclarations: use.tools.map(toolOf) }],
    toolConfig: use === null ? undefined : choiceOf(use),
    generationConfig: generationConfig(request, target),
  });
}

function contentOf({ role, parts }: Turn, signed: boolean): Json {
  const written = parts.flatMap(partsOf);
  const firstCall = written.findIndex((part) => "functionCall" in part);
  // One signature for all calls of a turn, on the first of them.
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

/** Words go into the response, which must be an object; pictures stand beside it. */
function resultOf({ id, name, parts }: Result): Json[] {
  const words = parts.map((part) => part.kind === "text" ? part.text : "").join("");
  const response = objectIn(words) ?? { output: words };
  const others = parts.filter(({ kind }) => kind !== "text").flatMap(partsOf);
  return [{ functionResponse: { id, name, response } }, ...others];
}

function objectIn(words: string): Json | null {
  if (!words.trimStart().startsWith("{")) return null;
  try {
    return record(JSON.parse(words));
  } catch {
    return null;
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
/** What an address ends in that the provider would read as something far larger than an image. */
const LARGE = new Set(["pdf", "mp4", "mov", "mpeg", "mpg", "webm", "avi", "mp3", "wav", "flac"]);
/** Where an address is a video, or a file in the store that our key opens. */
const OTHER_HOSTS = /(?:^|\.)(?:youtube\.com|youtu\.be|youtube-nocookie\.com|googleapis\.com)$/;

/** The type of a linked image; undefined where its address does not tell. */
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
