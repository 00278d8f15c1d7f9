import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import { secretBytes, signature } from "./sign.ts";

/** A request as a receiver captured it. */
export interface CapturedRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** What is wrong with it, if anything. The first fault is the one to mend. */
export type Verification =
  | { ok: true; message: string }
  | { ok: false; fault: SignatureFault; message: string };

export type SignatureFault =
  | "missing_header"
  | "malformed_header"
  | "malformed_secret"
  | "body_changed"
  | "wrong_secret"
  | "timestamp_too_old"
  | "timestamp_in_future";

/** As the published libraries have it. */
const TOLERANCE_SECONDS = 300;

/**
 * Checks a captured request as a receiver would, and says what a receiver cannot know: which of the
 * things that can go wrong did. The signature comes before the time, so that an old capture is of use.
 */
export function explainSignature(
  { headers, body }: CapturedRequest,
  secret: string,
  nowSeconds: number,
): Verification {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const [id, timestamp, signatures] = names.map((name) => headers[name]?.trim() ?? "");
  for (const [at, value] of [id, timestamp, signatures].entries()) {
    if (value === "") return no("missing_header", `The header ${names[at]} is missing.`);
  }
  if (!/^\d{1,12}$/.test(timestamp!)) {
    return no("malformed_header", `webhook-timestamp is not in Unix seconds: "${timestamp}".`);
  }
  const given = readSignatures(signatures!);
  if (typeof given === "string") return no("malformed_header", given);
  const key = secretBytes(secret);
  if (key === null) {
    const message = "The secret is not one: it reads whsec_ and then base64 of 24 to 64 bytes.";
    return no("malformed_secret", message);
  }
  const matches = (bytes: Uint8Array) => {
    const expected = Buffer.from(signature(key, id!, timestamp!, bytes), "base64");
    return given.some((one) => timingSafeEqual(one, expected));
  };
  if (!matches(body)) return whyNot(id!, body, matches);

  const age = nowSeconds - Number(timestamp);
  if (age > TOLERANCE_SECONDS) {
    return no(
      "timestamp_too_old",
      `The signature is right, but the attempt was ${age} s ago: receivers refuse after ${TOLERANCE_SECONDS} s. A capture can be checked as of its own time with --at ${timestamp}.`,
    );
  }
  if (age < -TOLERANCE_SECONDS) {
    return no(
      "timestamp_in_future",
      `The signature is right, but the attempt lies ${-age} s in the future: a clock is wrong.`,
    );
  }
  return { ok: true, message: `The signature is right, and the attempt was ${age} s ago.` };
}

/** The signatures of version 1; a sentence when there is none that can be read. */
function readSignatures(header: string): Buffer[] | string {
  const parts = header.split(/\s+/).map((part) => /^([^,]+),(.*)$/.exec(part));
  if (parts.some((part) => part === null)) {
    return 'webhook-signature is not a list of "v1,<base64>" with spaces between.';
  }
  const ours = parts.filter((part) => part![1] === "v1").map((part) => part![2]!);
  if (ours.length === 0) return "webhook-signature has no signature of version v1.";
  const bytes = ours.map((text) => Buffer.from(text, "base64"));
  const bad = bytes.findIndex(({ length }, at) => length !== 32 || !/^[\w+/]+=$/.test(ours[at]!));
  return bad === -1 ? bytes : `webhook-signature: "${ours[bad]}" is not the base64 of 32 bytes.`;
}

function whyNot(
  id: string,
  body: Uint8Array,
  matches: (bytes: Uint8Array) => boolean,
): Verification {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  const event = parse(text);
  const variants: [what: string, text: string][] = [
    ["line breaks were added at its end", withoutTrailing(text, "\r\n")],
    ["a byte-order mark was added", text.replace(/^\uFEFF/, "")],
    ["line breaks were changed", text.replaceAll("\r\n", "\n")],
    ["it was parsed and written again as JSON", JSON.stringify(event)],
  ];
  const encoder = new TextEncoder();
  for (const [what, variant] of variants) {
    if (matches(encoder.encode(variant))) {
      const advice = "verify the bytes as they came, before anything parses them";
      return no(
        "body_changed",
        `The secret is right; the body was changed: ${what}. So ${advice}.`,
      );
    }
  }
  if (event === null) return no("body_changed", "The body was changed: it is not JSON any more.");
  if (event.id !== id) {
    const message = `The body is of event ${JSON.stringify(event.id)}, the headers are of ${id}.`;
    return no("body_changed", message);
  }
  if (JSON.stringify(event) !== text) {
    return no("body_changed", "The body was changed: it is not written as it is when it is sent.");
  }
  return no(
    "wrong_secret",
    "The signature is of another secret: the body looks as it was sent. Events to an endpoint are signed with the endpoint's secret, those to a callback_url with the account's default one. (A value changed inside the body would look the same.)",
  );
}

function parse(text: string): { id?: unknown } | null {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null; // not JSON: a SyntaxError
  }
}

function no(fault: SignatureFault, message: string): Verification {
  return { ok: false, fault, message };
}
