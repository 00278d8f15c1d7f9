import { AwsClient } from "aws4fetch";
import type { Bucket } from "../../platform/config/config.ts";
import { type ByteStore, storeFailed } from "./byte_store.ts";
import type { ByteRange, Bytes } from "./files.ts";
import { sleep } from "../../lib/timers.ts";

/** S3 requires parts of at least 5 MiB; an upload keeps one part in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const CALL_MS = 120_000;
const RETRIES = 3;
const RETRY_MS = 100;

/** Bytes in a bucket of any service that is compatible with S3. */
export class S3Store implements ByteStore {
  readonly #client: AwsClient;
  readonly #base: string;

  constructor(private readonly bucket: Bucket) {
    this.#client = new AwsClient({
      accessKeyId: bucket.accessKeyId,
      secretAccessKey: bucket.secretAccessKey,
      region: bucket.region,
      service: "s3",
      // Its own retries do not read the bodies of failed responses.
      retries: 0,
    });
    this.#base = bucket.pathStyle
      ? `${bucket.endpoint}/${bucket.bucket}`
      : bucket.endpoint.replace("://", `://${bucket.bucket}.`);
  }

  async put(key: string, chunks: Bytes): Promise<void> {
    let upload: string | null = null;
    try {
      const etags: string[] = [];
      let last: Uint8Array<ArrayBuffer> | null = null;
      // A part is sent when the next one begins: only then is it known not to be the only one.
      for await (const part of parts(chunks)) {
        if (last !== null) {
          upload ??= await this.#begin(key);
          etags.push(await this.#putPart(key, upload, etags.length + 1, last));
        }
        last = part;
      }
      last ??= new Uint8Array();
      if (upload === null) {
        await this.#done("PUT", this.#address(key), last);
        return;
      }
      etags.push(await this.#putPart(key, upload, etags.length + 1, last));
      await this.#complete(key, upload, etags);
    } catch (error) {
      // Best effort: the first error is the one to report, and buckets expire unfinished uploads.
      if (upload !== null) await this.#abort(key, upload).catch(() => {});
      throw error;
    }
  }

  async get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const init = range === undefined
      ? {}
      : { headers: { range: `bytes=${range.first}-${range.last}` } };
    const response = await this.#call("GET", this.#address(key), init);
    const isAsAsked = response.status === (range === undefined ? 200 : 206);
    if (!isAsAsked || response.body === null) throw await toStoreError(response);
    return response.body;
  }

  async delete(key: string): Promise<void> {
    const response = await this.#call("DELETE", this.#address(key));
    if (response.status !== 404 && !response.ok) throw await toStoreError(response);
    await response.body?.cancel();
    for (const upload of await this.#unfinished(key)) await this.#abort(key, upload);
  }

  #address(key: string, query = ""): string {
    return `${this.#base}/${this.bucket.prefix}${key}${query}`;
  }

  async #begin(key: string): Promise<string> {
    const answer = await this.#done("POST", this.#address(key, "?uploads"));
    const [id] = tagged(answer, "UploadId");
    if (id === undefined) throw storeFailed(new Error("S3 gave no upload id"));
    return id;
  }

  async #putPart(
    key: string,
    upload: string,
    number: number,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<string> {
    const query = `?partNumber=${number}&uploadId=${encodeURIComponent(upload)}`;
    const response = await this.#call("PUT", this.#address(key, query), { body: bytes });
    const etag = response.headers.get("etag");
    if (!response.ok || etag === null) throw await toStoreError(response);
    await response.body?.cancel();
    return etag;
  }

  async #complete(key: string, upload: string, etags: readonly string[]): Promise<void> {
    const listed = etags.map((etag, at) =>
      `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`
    );
    const answer = await this.#done(
      "POST",
      this.#address(key, `?uploadId=${encodeURIComponent(upload)}`),
      `<CompleteMultipartUpload>${listed.join("")}</CompleteMultipartUpload>`,
    );
    // The service may respond 200 and report a failure in the body.
    if (answer.includes("<Error>")) throw storeFailed(new Error(`S3: ${answer.slice(0, 500)}`));
  }

  async #abort(key: string, upload: string): Promise<void> {
    const address = this.#address(key, `?uploadId=${encodeURIComponent(upload)}`);
    await (await this.#call("DELETE", address)).body?.cancel();
  }

  /** Ids of interrupted uploads, whose parts cost storage and are not visible as files. */
  async #unfinished(key: string): Promise<string[]> {
    const prefix = encodeURIComponent(this.bucket.prefix + key);
    const response = await this.#call("GET", `${this.#base}?uploads&prefix=${prefix}`);
    const text = await response.text();
    // Not every service supports this list; others need a lifecycle rule of the bucket.
    return response.ok ? tagged(text, "UploadId") : [];
  }

  async #done(method: string, address: string, body?: BodyInit): Promise<string> {
    const response = await this.#call(method, address, { body });
    if (!response.ok) throw await toStoreError(response);
    return await response.text();
  }

  /** One request, retried while the service is busy or unreachable. All requests here can be repeated. */
  async #call(method: string, address: string, init: RequestInit = {}): Promise<Response> {
    const deadline = new AbortController();
    // Only until the response begins: reading a large video may take longer.
    const timer = setTimeout(() => deadline.abort(), CALL_MS);
    const { signal } = deadline;
    try {
      for (let tried = 1;; tried++) {
        const answer = await this.#client.fetch(address, { ...init, method, signal })
          .catch((error: unknown) => storeFailed(error));
        const isFinal = tried > RETRIES || signal.aborted;
        if (answer instanceof Response) {
          if (isFinal || (answer.status < 500 && answer.status !== 429)) return answer;
          await answer.body?.cancel();
        } else if (isFinal) throw answer;
        await sleep(RETRY_MS * 2 ** tried * Math.random());
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Chunks gathered into parts of equal size, the last one shorter. */
async function* parts(chunks: Bytes): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array(PART_BYTES);
  let filled = 0;
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      const taken = chunk.subarray(0, PART_BYTES - filled);
      part.set(taken, filled);
      filled += taken.length;
      chunk = chunk.subarray(taken.length);
      if (filled < PART_BYTES) continue;
      yield part;
      part = new Uint8Array(PART_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

async function toStoreError(response: Response): Promise<Error> {
  // The status is worth reporting even if the connection ends before the text.
  const text = await response.text().catch(() => "");
  return storeFailed(new Error(`S3 answered ${response.status}: ${text.slice(0, 500)}`));
}

function tagged(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"))].map(([, text]) =>
    text!.replaceAll("&amp;", "&")
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
