// Verifies an event of the gateway. No dependencies: Node 18+, Deno and Bun run it as it is.
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

export interface GatewayEvent {
  id: string;
  type: string;
  created: number;
  data: { task_id: string; status: string; output: { type: string; url: string }[] };
}

/**
 * Returns the event, or throws. `body` is the request's body as it came, before anything parsed it:
 * JSON that was read and written again has another signature.
 */
export function verifyEvent(
  body: string,
  header: (name: string) => string | null | undefined,
  secret: string,
  nowSeconds: number = Math.floor(Date.now() / 1000),
): GatewayEvent {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const signatures = header("webhook-signature");
  if (!id || !timestamp || !signatures) throw new Error("a header is missing");
  if (!/^\d+$/.test(timestamp)) throw new Error("the timestamp is not a number");
  if (Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new Error("the timestamp is too far from now");
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  // Several while a secret is rotated: one that matches is enough.
  const isOurs = signatures.split(" ").some((one) => {
    const [version, signature = ""] = one.split(",");
    const given = Buffer.from(signature, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) throw new Error("no signature matches");
  return JSON.parse(body);
}
