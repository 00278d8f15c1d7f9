import {
  countBase64Floats,
  countFloats,
  isList,
  Pauses,
  toBase64Floats,
} from "../lib/json_vectors.ts";
import { sleep } from "../lib/timers.ts";
import {
  type EmbeddingReply,
  type EmbeddingRequest,
  inProcessTransport,
  type UpstreamTarget,
} from "./adapter.ts";
import type { Attempt } from "./call_chat.ts";
import { Deadline } from "./deadline.ts";
import { UpstreamFailure } from "./failure.ts";
import { openResponse } from "./open_response.ts";
import { readBytes } from "./read_whole.ts";

/** A request for embeddings and what limits its reply. */
export interface EmbeddingCall {
  readonly request: EmbeddingRequest;
  readonly target: UpstreamTarget;
  /** The client's own request, for faults that name a field of it. */
  readonly original: unknown;
  /** The greatest length that a vector can have. */
  readonly dimensionsMax: number;
}

/** A number of a vector with its indentation, as the most talkative server writes it. */
const NUMBER_BYTES_MAX = 40;
/** What a reply has beside its vectors: some fields for each. */
const FRAME_BYTES = 64 * 1024;
const FRAME_BYTES_EACH = 512;

/** Calls an upstream. Its vectors are those of the request: as many, in the encoding and of the length it asks for. */
export async function callEmbeddings(
  attempt: Attempt,
  call: EmbeddingCall,
): Promise<EmbeddingReply> {
  const { adapter, http1, timeoutMs, signal } = attempt;
  const embeddings = adapter.embeddings!;
  const written = embeddings.write(call.request, call.target);
  using deadline = new Deadline({ silenceMs: timeoutMs, signal });
  const transport = inProcessTransport(adapter, written.url);
  const response = await openResponse(
    { transport, http1, faults: embeddings, original: call.original },
    written,
    deadline,
  );
  const bytes = await readBytes(response, replyBytesMax(call)).catch((cause) => {
    throw deadline.toFailure(cause);
  });
  try {
    const { vectors, tokens } = await embeddings.read(bytes, call.request.inputs.length);
    return { vectors: await inEncoding(vectors, call.request), tokens };
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", { cause });
  }
}

function replyBytesMax({ request: { inputs }, dimensionsMax }: EmbeddingCall): number {
  const vectorBytes = dimensionsMax * NUMBER_BYTES_MAX + FRAME_BYTES_EACH;
  return FRAME_BYTES + inputs.length * vectorBytes;
}

type Vectors = EmbeddingReply["vectors"];

/** Checks the vectors and encodes those that came otherwise: some servers know lists of numbers only. */
async function inEncoding(
  vectors: Vectors,
  { encoding, dimensions }: EmbeddingRequest,
): Promise<Vectors> {
  const encoded: Vectors[number][] = [];
  let length = dimensions;
  const pause = new Pauses();
  for (const vector of vectors) {
    const count = isList(vector) ? countFloats(vector) : countBase64Floats(vector);
    // Vectors of another length than their neighbours would spoil the client's index.
    if (count === 0 || count !== (length ??= count)) {
      throw new TypeError(`a vector has ${count} dimensions, not ${length}`);
    }
    if (isList(vector) === (encoding === "float")) encoded.push(vector);
    else if (encoding === "base64") encoded.push(toBase64Floats(vector));
    else throw new TypeError("the vectors are base64, and numbers were asked for");
    if (pause.isDue(vector.length)) await sleep(0);
  }
  return encoded;
}
