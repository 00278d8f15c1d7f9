import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { Refusal } from "../base/refusal.ts";

/** A form of multipart/form-data with one file in it, on its way in. */
export interface Upload {
  filename: string;
  /**
   * The file's bytes. It ends well only when the whole form was read and is as it should be, so whoever
   * stores to the end has stored a good upload, in whatever order its parts came.
   */
  body: AsyncIterable<Uint8Array>;
}

const LIMITS = { fieldSize: 1024, fields: 10, parts: 12, headerPairs: 20, headerSize: 8 * 1024 };
/** Longer than any network pauses, shorter than somebody who holds a place for nothing. */
const SILENCE_MS = 60_000;
/** The form around the file. */
const FORM_BYTES_MAX = 64 * 1024;

/**
 * Reads `file` and `purpose` from a form and hands the file on while it is still coming. Nothing is held
 * but the piece that is under way.
 */
export async function readUpload<T>(
  request: Request,
  bytesMax: number,
  take: (upload: Upload) => Promise<T>,
): Promise<T> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type.trim()) || request.body === null) {
    throw new Refusal(
      "unsupported_media_type",
      "The body must be a form with a file: send Content-Type: multipart/form-data.",
    );
  }
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax + FORM_BYTES_MAX) {
    throw new Refusal("payload_too_large", `No file may have more than ${bytesMax} bytes.`, {
      param: "file",
    });
  }
  return await new Form(type, request.body).read(take);
}

class Form {
  readonly #parser: BusboyInstance;
  readonly #ending = new AbortController();
  readonly #file = Promise.withResolvers<{ stream: Readable; filename: string } | null>();
  #purpose: string | undefined;
  #fault: Refusal | null = null;

  constructor(type: string, private readonly source: ReadableStream<Uint8Array>) {
    this.#parser = parserOf(type);
    this.#parser.on("file", (_name, stream, filename) => {
      // An error on a stream that nobody listens to would end the process.
      stream.on("error", () => {});
      this.#file.resolve({ stream, filename: unescaped(filename ?? "") });
    });
    this.#parser.on("field", (name, value, _nameCut, isCut) => this.#note(name, value, isCut));
    this.#parser.on("filesLimit", () => this.#refuse("invalid_value", "Send one file.", "file"));
    const tooMany = () => this.#refuse("invalid_value", "The form has too many parts.");
    this.#parser.on("fieldsLimit", tooMany);
    this.#parser.on("partsLimit", tooMany);
  }

  async read<T>(take: (upload: Upload) => Promise<T>): Promise<T> {
    const reading = this.#pump();
    // Looked at below, on every way out.
    reading.catch(() => {});
    try {
      const file = await Promise.race([this.#file.promise, reading.then(() => null)]);
      if (file === null) {
        throw new Refusal("missing_field", 'The form has no file: send a part named "file".', {
          param: "file",
        });
      }
      return await take({ filename: file.filename, body: this.#body(file.stream, reading) });
    } catch (error) {
      // What broke because we stopped is an echo of why we stopped.
      throw this.#fault ?? error;
    } finally {
      this.#ending.abort();
      await reading.catch(() => {});
    }
  }

  async *#body(stream: Readable, reading: Promise<void>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) yield chunk;
    } catch (error) {
      await reading;
      throw error;
    }
    await reading;
  }

  /** Moves the request into the parser and checks what came of it. */
  async #pump(): Promise<void> {
    try {
      await pipeline(patiently(this.source), this.#parser, { signal: this.#ending.signal });
    } catch (error) {
      throw this.#fault ?? (error instanceof Refusal ? error : broken(error));
    }
    if (this.#fault !== null) throw this.#fault;
    if (this.#purpose === undefined) {
      throw new Refusal("missing_field", 'The form has no purpose: send purpose "generation".', {
        param: "purpose",
      });
    }
  }

  #note(name: string | undefined, value: string, isCut: boolean): void {
    if (name !== "purpose") {
      this.#refuse("unknown_field", `There is no field ${JSON.stringify(shortened(name))}.`, name);
    } else if (this.#purpose !== undefined) {
      this.#refuse("invalid_value", "Send purpose once.", "purpose");
    } else if (isCut || value !== "generation") {
      this.#refuse("invalid_value", 'purpose must be "generation".', "purpose");
    } else this.#purpose = value;
  }

  #refuse(code: "invalid_value" | "unknown_field", message: string, param?: string): void {
    this.#fault ??= new Refusal(code, message, { param: shortened(param) });
    this.#ending.abort();
  }
}

function parserOf(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": type },
      limits: { ...LIMITS, files: 1 },
      isPartAFile: (name) => name === "file",
    });
  } catch (error) {
    throw broken(error);
  }
}

/** Browsers write a quote in a name this way, and nothing else. */
function unescaped(filename: string): string {
  return filename.replaceAll("%22", '"');
}

function broken(cause: unknown): Refusal {
  const message =
    "The form cannot be read: it is cut off, or not as multipart/form-data is written.";
  return new Refusal("invalid_value", message, { cause });
}

function shortened(name: string | undefined): string | undefined {
  return name?.slice(0, 64);
}

/** The body as it comes, for as long as it comes. */
async function* patiently(source: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = source.getReader();
  try {
    while (true) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(broken(new Error("nothing came"))), SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() =>
        clearTimeout(timer)
      );
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
