import assert from "node:assert/strict";
import { Http1Client } from "../../../src/upstream/http1/client.ts";
import { InvalidResponse } from "../../../src/upstream/http1/head.ts";
import { asking, never } from "../../helpers/http1.ts";
import { mutate } from "../mutate.ts";
import { Random } from "../random.ts";
import type { FuzzTarget } from "../target.ts";

const TOKENS = [
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.0 ",
  "content-length: ",
  "transfer-encoding: chunked\r\n",
  "connection: close\r\n",
  "content-encoding: identity\r\n",
  "\r\n",
  "\r\n\r\n",
  "\n",
  "0\r\n\r\n",
  "5\r\nhello\r\n",
  "ffffffffffff",
  ";a=b",
  ": ",
  ",",
  "99999999999999999999",
  "-1",
  "\0",
];

/** An answer is read or refused as broken, and the same however its bytes are cut. */
const target: FuzzTarget = {
  generate: (random, corpus) => mutate(random, { corpus, tokens: TOKENS }),
  async run(input) {
    const random = new Random(input.length);
    const [cut, whole] = [await answer(input, random.cuts(input.length)), await answer(input, [])];
    assert.equal(cut.outcome, whole.outcome);
    // What came before a fault may have been given already, or not yet.
    if (whole.isBroken) {
      assert.ok(cut.text.startsWith(whole.text) || whole.text.startsWith(cut.text));
    } else assert.equal(cut.text, whole.text);
  },
};

interface Answer {
  outcome: string;
  text: string;
  isBroken: boolean;
}

async function answer(bytes: Uint8Array, cuts: readonly number[]): Promise<Answer> {
  using client = new Http1Client({ connect: () => Promise.resolve(connectionOf(bytes, cuts)) });
  const decoder = new TextDecoder("latin1");
  let text = "";
  try {
    const { status, fields, body } = await client.send(asking(80), never());
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      text += decoder.decode(piece);
    }
    return { outcome: `${status} ${fields.get("content-type")}`, text, isBroken: false };
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    return { outcome: error.message, text, isBroken: true };
  }
}

/** A connection in memory: one piece for each read, and then its end. */
function connectionOf(bytes: Uint8Array, cuts: readonly number[]): Deno.TcpConn {
  const ends = [...cuts, bytes.length];
  let at = 0;
  const connection = {
    setNoDelay() {},
    close() {},
    write: (request: Uint8Array) => Promise.resolve(request.length),
    read(buffer: Uint8Array) {
      if (at === bytes.length) return Promise.resolve(null);
      const end = ends.find((cut) => cut > at)!;
      const piece = bytes.subarray(at, Math.min(end, at + buffer.length));
      buffer.set(piece);
      at += piece.length;
      return Promise.resolve(piece.length);
    },
  };
  return connection as unknown as Deno.TcpConn;
}

export default target;
