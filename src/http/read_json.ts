import { Refusal } from "../base/refusal.ts";
import type { HttpContext } from "./exchange.ts";
import { jsonFault } from "./json_fault.ts";

/** Reads a JSON body within the plan's limits of size and depth. */
export async function readJson(c: HttpContext): Promise<unknown> {
  const { bodyBytesMax, jsonDepthMax } = c.env.plan.requests;
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new Refusal(
      "unsupported_media_type",
      "The body must be JSON: send Content-Type: application/json.",
    );
  }
  const text = decode(await readBytes(c.req.raw, bodyBytesMax));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal("invalid_json", jsonFault(text, error), { cause: error });
  }
  // What has fewer brackets than levels allowed cannot be too deep: most bodies need no second look.
  if (hasMoreBrackets(text, jsonDepthMax) && isDeeperThan(value, jsonDepthMax)) {
    throw new Refusal("invalid_json", `The body is nested deeper than ${jsonDepthMax} levels.`);
  }
  return value;
}

async function readBytes(request: Request, max: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    // The server holds a body to its announced length, so it can be taken in one piece.
    if (Number(length) > max) throw tooLarge(max);
    return await request.bytes().catch((cause) => {
      throw cutShort(cause);
    });
  }
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.length;
      if (size > max) throw tooLarge(max);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof Refusal ? cause : cutShort(cause);
  }
  return concat(chunks, size);
}

/** Whoever sends it has hung up: no fault of ours, and hardly anybody hears of it. */
function cutShort(cause: unknown): Refusal {
  return new Refusal("invalid_json", "The body ended before it was whole.", { cause });
}

function tooLarge(max: number): Refusal {
  return new Refusal("payload_too_large", `The body is larger than ${max} bytes.`);
}

function concat(chunks: Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new Refusal("invalid_json", "The body is not UTF-8 text.", { cause: error });
  }
}

function hasMoreBrackets(text: string, max: number): boolean {
  let seen = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++seen > max) return true;
    }
  }
  return false;
}

/** Level by level, without recursion: a body must not be able to end the stack. */
function isDeeperThan(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const part of Object.values(item)) {
        if (typeof part === "object" && part !== null) next.push(part);
      }
    }
    level = next;
  }
  return false;
}
