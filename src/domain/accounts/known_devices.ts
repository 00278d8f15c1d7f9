import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { newSecret } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";

/** How long a browser is known after it signed in. */
export const DEVICE_SECONDS = 180 * 86_400;
const MARK = /^([A-Za-z0-9]{16})\.(\d{10,12})\.([A-Za-z0-9_-]{43})$/;

/** The cookie that identifies a browser which this person has used before. It does not sign anyone in. */
export async function markDevice(sql: Queries, person: string, now: number): Promise<string> {
  const secret = await secretOf(sql, person);
  const device = newSecret().slice(0, 16);
  const expires = Math.floor(now / 1000) + DEVICE_SECONDS;
  return `${device}.${expires}.${macOf(secret, device, expires).toString("base64url")}`;
}

/** The device of a cookie; null if it is not this person's, or too old. */
export async function knownDevice(
  sql: Queries,
  person: string,
  mark: string,
  now: number,
): Promise<string | null> {
  const [, device, expires, mac] = MARK.exec(mark) ?? [];
  if (device === undefined || Number(expires) * 1000 <= now) return null;
  const expected = macOf(await secretOf(sql, person), device, Number(expires));
  return timingSafeEqual(expected, Buffer.from(mac!, "base64url")) ? device : null;
}

async function secretOf(sql: Queries, person: string): Promise<Uint8Array> {
  const [row] = await sql<[{ device_secret: Uint8Array }?]>`
    select device_secret from person where id = ${person}`;
  // For an unknown person: a random key, so that the check takes as long.
  return row?.device_secret ?? crypto.getRandomValues(new Uint8Array(32));
}

function macOf(secret: Uint8Array, device: string, expires: number): Buffer {
  return createHmac("sha256", secret).update(`${device}.${expires}`).digest();
}
