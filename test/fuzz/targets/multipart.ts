import assert from "node:assert/strict";
import { ApiError } from "../../../src/lib/api_error.ts";
import { readMultipartForm } from "../../../src/http/multipart.ts";
import { BOUNDARY, FORM_TYPE } from "../../helpers/form.ts";
import { mutate } from "../mutate.ts";
import { Random } from "../random.ts";
import type { FuzzTarget } from "../target.ts";

const TOKENS = [
  `--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--`,
  "\r\n\r\n",
  "\r\n",
  "\r",
  "--",
  "Content-Disposition: form-data",
  '; name="',
  "; filename=",
  "filename*=UTF-8''%e2%82%ac",
  '"',
  "\\",
  '\\"',
  "%22",
  ";",
  " ",
  "\t",
  "=",
  "\0",
];

const PIECES_MAX = 900;

/** A form is read or refused, and the same however its bytes are cut and whichever stream carries them. */
const target: FuzzTarget = {
  generate: (random, corpus) => mutate(random, { corpus, tokens: TOKENS }),
  async run(input) {
    const random = new Random(input.length);
    // More pieces than a body may come in are refused, whatever is in them.
    const cuts = () => random.cuts(input.length).filter((_, at) => at < PIECES_MAX);
    const whole = await read(defaultStream(input, []));
    assert.deepEqual(await read(defaultStream(input, cuts())), whole);
    assert.deepEqual(await read(byteStream(input, cuts())), whole);
  },
};

async function read(body: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const parts: unknown[] = [];
  try {
    for await (const { name, filename, content } of readMultipartForm(body, FORM_TYPE)) {
      let text = "";
      const decoder = new TextDecoder("latin1");
      for await (const piece of content) text += decoder.decode(piece, { stream: true });
      parts.push({ name, filename, text });
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    parts.push(error.code);
  }
  return parts;
}

function defaultStream(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(pieces(bytes, cuts));
}

function byteStream(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const left = pieces(bytes, cuts).filter((piece) => piece.length > 0);
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const next = left.shift();
      if (next !== undefined) return controller.enqueue(next);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Copies: a byte stream takes the memory of what it is given. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const ends = [...cuts, bytes.length];
  return ends.map((to, at) => new Uint8Array(bytes.slice(ends[at - 1] ?? 0, to)));
}

export default target;
