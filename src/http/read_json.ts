import { ApiError } from "../lib/api_error.ts";
import { SerialExecutor } from "../lib/serial_executor.ts";
import type { HttpContext } from "./exchange.ts";
import { describeJsonError } from "./json_error.ts";
import { scanJson, tooDeep } from "./scan_json.ts";

/** Smaller bodies cannot block the thread, whatever they contain. */
const LARGE_BYTES = 64 * 1024;
const large = new SerialExecutor();

/** Reads a JSON body within the configured limits of size, depth and values; it may have `valuesMin` in any case. */
export async function readJson(c: HttpContext, valuesMin = 0): Promise<unknown> {
  const { bodyBytesMax, jsonDepthMax, jsonValuesMax } = c.env.config.limits;
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      "The body must be JSON: send Content-Type: application/json.",
    );
  }
  const { bytes, reservation } = await c.env.bodies.read(c.req.raw, {
    owner: c.env.caller?.account ?? "operator",
    bytesMax: c.env.bodyBytesMax ?? bodyBytesMax,
    limits: c.env.config.limits,
  });
  // Released by RequestHandler with the response.
  c.env.body = reservation;
  c.env.logged?.bodies?.noteRequest(bytes);
  if (bytes.length <= LARGE_BYTES) return parseShallow(bytes, jsonDepthMax);
  return await large.run(() => {
    scanJson(bytes, { depthMax: jsonDepthMax, valuesMax: Math.max(jsonValuesMax, valuesMin) });
    return parse(decode(bytes));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError("invalid_json", describeJsonError(text, error), { cause: error });
  }
}

function parseShallow(bytes: Uint8Array, jsonDepthMax: number): unknown {
  const text = decode(bytes);
  const value = parse(text);
  // A body with fewer brackets than allowed levels cannot be too deep: most bodies need no second check.
  if (hasMoreBrackets(text, jsonDepthMax) && isDeeperThan(value, jsonDepthMax)) {
    throw tooDeep(jsonDepthMax);
  }
  return value;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new ApiError("invalid_json", "The body is not UTF-8 text.", { cause: error });
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

/** Level by level, without recursion: a body must not overflow the stack. */
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
