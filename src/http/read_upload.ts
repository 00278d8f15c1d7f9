import { ApiError } from "../lib/api_error.ts";
import type { BodyPace } from "../domain/limits/paced_reads.ts";
import { beginBody, finishBody } from "../domain/limits/unfinished_bodies.ts";
import { type FormPart, readMultipartForm } from "./multipart.ts";

/** A form with one file, while it arrives. */
export interface FormUpload {
  filename: string;
  /**
   * The file's bytes. Ends without an error only when the whole form was read and is valid, in whatever order
   * its parts come.
   */
  body: AsyncIterable<Uint8Array>;
  /** Size of the whole form, a little more than the file; null where the client does not announce it. */
  announcedBytes: number | null;
}

/** The form around the file. */
const FORM_BYTES_MAX = 64 * 1024;
const FIELD_BYTES_MAX = 1024;

/** Reads `file` and `purpose` from a form, and passes the file on while it arrives. */
export async function readUpload<T>(
  request: Request,
  bytesMax: number,
  take: (upload: FormUpload) => Promise<T>,
  pace?: BodyPace,
): Promise<T> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(type)) {
    throw new ApiError(
      "unsupported_media_type",
      "The body must be a form with a file: send Content-Type: multipart/form-data.",
    );
  }
  if (request.body === null) throw missing("file");
  const length = request.headers.get("content-length");
  const announcedBytes = length === null ? null : Number(length);
  if (announcedBytes !== null && announcedBytes > bytesMax + FORM_BYTES_MAX) {
    const message = `The form is too large: no file may have more than ${bytesMax} bytes.`;
    throw new ApiError("payload_too_large", message, { param: "file" });
  }
  beginBody(request);
  await using parts = readMultipartForm(request.body, type, {
    pace,
    onEnd: () => finishBody(request),
  });
  const fields = new Fields();
  const file = await nextFile(parts, fields);
  if (file === null) throw missing("file");
  return await take({
    filename: file.filename ?? "",
    body: toTheEnd(file, parts, fields),
    announcedBytes,
  });
}

async function nextFile(
  parts: AsyncGenerator<FormPart, void>,
  fields: Fields,
): Promise<FormPart | null> {
  while (true) {
    const { done, value: part } = await parts.next();
    if (done) return null;
    if (part.name === "file") return part;
    await fields.take(part);
  }
}

async function* toTheEnd(
  file: FormPart,
  parts: AsyncGenerator<FormPart, void>,
  fields: Fields,
): AsyncGenerator<Uint8Array> {
  yield* file.content;
  for await (const part of parts) await fields.take(part);
  fields.check();
}

class Fields {
  #hasPurpose = false;

  async take(part: FormPart): Promise<void> {
    const { name } = part;
    if (name === "file") throw invalid("Send one file.", "file");
    if (name !== "purpose") {
      const param = name.slice(0, 64);
      const message = `Unknown field ${JSON.stringify(param)}: send file and purpose.`;
      throw new ApiError("unknown_field", message, { param });
    }
    if (this.#hasPurpose) throw invalid("Send purpose once.", "purpose");
    if (await textOf(part) !== "generation") {
      throw invalid('purpose must be "generation".', "purpose");
    }
    this.#hasPurpose = true;
  }

  check(): void {
    if (!this.#hasPurpose) throw missing("purpose");
  }
}

/** The text of a field; null when it is longer than any valid value. */
async function textOf({ content }: FormPart): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of content) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > FIELD_BYTES_MAX) return null;
  }
  return text + decoder.decode();
}

function invalid(message: string, param: string): ApiError {
  return new ApiError("invalid_value", message, { param });
}

function missing(param: "file" | "purpose"): ApiError {
  const message = param === "file"
    ? 'The form has no file: send a part named "file".'
    : 'The form has no purpose: send purpose "generation".';
  return new ApiError("missing_field", message, { param });
}
