const ERROR_RESPONSE = "E".charCodeAt(0);
const HEADER_BYTES = 5;

/**
 * Finds errors of severity FATAL or PANIC in the engine's responses, however its messages are split into
 * pieces. After one, a server would end the process; the embedded engine stays and may never respond again.
 */
export class FatalErrors {
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  #bodyLeft = 0;
  #body: Uint8Array[] | null = null;

  /** The engine's message; null as long as it can continue. */
  find(chunk: Uint8Array): string | null {
    let found: string | null = null;
    for (let at = 0; at < chunk.length;) {
      if (this.#headerBytes < HEADER_BYTES) {
        this.#header[this.#headerBytes++] = chunk[at++]!;
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#bodyLeft = new DataView(this.#header.buffer).getUint32(1) - 4;
        this.#body = this.#header[0] === ERROR_RESPONSE ? [] : null;
      }
      const part = chunk.subarray(at, at + this.#bodyLeft);
      this.#body?.push(part.slice());
      at += part.length;
      this.#bodyLeft -= part.length;
      if (this.#bodyLeft > 0) break;
      if (this.#body !== null) found ??= fatalReason(this.#body);
      this.#headerBytes = 0;
      this.#body = null;
    }
    return found;
  }
}

/** An error's fields are a letter and a text each, ended by NUL: V is the severity, M the message. */
function fatalReason(parts: readonly Uint8Array[]): string | null {
  const text = parts.map((part) => new TextDecoder().decode(part)).join("");
  const fields = new Map(text.split("\0").map((field) => [field[0], field.slice(1)]));
  const severity = fields.get("V");
  return severity === "FATAL" || severity === "PANIC"
    ? `${severity}: ${fields.get("M") ?? "no message"}`
    : null;
}
