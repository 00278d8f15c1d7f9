import { concatBytes } from "../lib/bytes.ts";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { type BodyReader, NO_BODY, openBody } from "./body_reader.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Http1Answer } from "./http1/client.ts";
import { BrokenAnswer } from "./http1/head.ts";

/** An answer whose body is still to be read. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** The whole body, and no more than so many bytes of it. */
  bytes(max: number): Promise<Uint8Array<ArrayBuffer>>;
}

const DECODERS: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Of `fetch`, which has undone any content coding. */
export function replyOf({ status, headers, body }: Response): UpstreamReply {
  return {
    status,
    headers,
    bytes: (max) => readBytes(body === null ? NO_BODY : openBody(body), max),
  };
}

/** Of our own client. An answer that was paid for is not thrown away because it is compressed. */
export function replyOfHttp1({ status, fields, body }: Http1Answer): UpstreamReply {
  return {
    status,
    headers: fields,
    async bytes(max) {
      const bytes = await readBytes(body, max);
      const coding = (fields.get("content-encoding") ?? "identity").trim().toLowerCase();
      if (coding === "identity" || bytes.length === 0) return bytes;
      const decode = DECODERS[coding];
      if (decode === undefined) throw new BrokenAnswer(`the answer is coded with ${coding}`);
      return new Uint8Array(await decode(bytes, { maxOutputLength: max }));
    },
  };
}

async function readBytes(body: BodyReader, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    length += piece.length;
    if (length > max) {
      body.cancel();
      throw new UpstreamFailure("unreadable", "the reply is too large", { sent: "maybe" });
    }
    // Copied: the place it stands in is about to be read into again.
    pieces.push(piece.slice());
  }
  return concatBytes(pieces);
}
