import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Queries } from "../../platform/database/database.ts";

/** The longest lifetime of a URL that the configuration schema allows. */
const HOURS_MAX = 168;
const SIGNATURE = /^(\d{1,18})-([A-Za-z0-9_-]{43})$/;

/**
 * Signs URLs of content, which then need no API key. All nodes read the secrets from the database: the newest
 * secret signs, older ones are still accepted.
 */
export class UrlSigner {
  #secrets = new Map<string, Uint8Array>();
  #newest = "";
  readonly #keys = new Map<string, readonly Uint8Array[]>();

  constructor(private readonly sql: Queries) {}

  /** Loads the secrets, and deletes those whose last URL has expired. */
  async refresh(): Promise<void> {
    const rows = await this.sql<{ number: string; secret: Uint8Array }[]>`
      with gone as (
        delete from content_secret
         where number < (select max(number) from content_secret
                          where created_at < now() - make_interval(hours => ${HOURS_MAX})))
      select number::text, secret from content_secret order by number`;
    this.#secrets = new Map(rows.map(({ number, secret }) => [number, secret]));
    this.#keys.clear();
    this.#newest = rows.at(-1)?.number ?? "";
  }

  /** `expires` in Unix seconds. */
  sign(fileId: string, expires: number): string {
    const secret = this.#secrets.get(this.#newest);
    if (secret === undefined) throw new Error("there is no secret to sign addresses with");
    return `${this.#newest}-${macOf(secret, fileId, expires).toString("base64url")}`;
  }

  /** Keys for another purpose, derived from the same secrets; newest first. */
  keysFor(purpose: string): readonly Uint8Array[] {
    const known = this.#keys.get(purpose);
    if (known !== undefined) return known;
    const keys = [...this.#secrets.values()].reverse()
      .map((secret) => createHmac("sha256", secret).update(`key for ${purpose}`).digest());
    if (keys.length === 0) throw new Error("there is no secret to make keys from");
    this.#keys.set(purpose, keys);
    return keys;
  }

  /** Whether a URL has a valid signature and has not expired. */
  async verify(fileId: string, expires: string, signature: string, now: number): Promise<boolean> {
    const parts = SIGNATURE.exec(signature);
    if (parts === null || !/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= now) {
      return false;
    }
    const [, number, mac] = parts;
    // Another node may already sign with a newer secret.
    if (!this.#secrets.has(number!)) await this.refresh();
    const secret = this.#secrets.get(number!);
    if (secret === undefined) return false;
    return timingSafeEqual(macOf(secret, fileId, Number(expires)), Buffer.from(mac!, "base64url"));
  }
}

function macOf(secret: Uint8Array, fileId: string, expires: number): Buffer {
  return createHmac("sha256", secret).update(`${fileId}.${expires}`).digest();
}
