import { concatBytes } from "../lib/bytes.ts";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { type BodyReader, NO_BODY, openBody } from "./body_reader.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Http1Response } from "./http1/client.ts";
import { InvalidResponse } from "./http1/head.ts";

/** A response whose body is not read yet. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** Reads the whole body; fails beyond `max` bytes. */
  bytes(max: number): Promise<Uint8Array<ArrayBuffer>>;
}

const DECODERS: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A response of `fetch`, which has already decoded the body. */
export function replyOf({ status, headers, body }: Response): UpstreamReply {
  return {
    status,
    headers,
    bytes: (max) => readBytes(body === null ? NO_BODY : openBody(body), max),
  };
}

/** A response of our own client. Compressed bodies are decoded: the response of a paid job must not be lost. */
export function replyOfHttp1({ status, fields, body }: Http1Response): UpstreamReply {
  return {
    status,
    headers: fields,
    async bytes(max) {
      const bytes = await readBytes(body, max);
      const coding = (fields.get("content-encoding") ?? "identity").trim().toLowerCase();
      if (coding === "identity" || bytes.length === 0) return bytes;
      const decode = DECODERS[coding];
      if (decode === undefined) {
        throw new InvalidResponse(`the response has the content encoding ${coding}`);
      }
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
      throw new UpstreamFailure("unreadable", "the reply is too large", { received: "unknown" });
    }
    // Copied: the buffer is reused by the next read.
    pieces.push(piece.slice());
  }
  return concatBytes(pieces);
}
