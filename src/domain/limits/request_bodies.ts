import { ApiError } from "../../lib/api_error.ts";
import { BodyBudget, type BodyLimits } from "./body_budget.ts";
import type { BodyReservation } from "./body_reservation.ts";
import { GrowingBuffer } from "./growing_buffer.ts";
import { type BodyPace, PacedReads } from "./paced_reads.ts";
import { beginBody, finishBody } from "./unfinished_bodies.ts";

export interface BodyOptions {
  /** The account, or the client address of an anonymous request. */
  owner: string;
  bytesMax: number;
  limits: BodyLimits;
}

export interface TakenBody {
  bytes: Uint8Array;
  /** Null for a body that is too small to count. */
  reservation: BodyReservation | null;
}

/** A body this small is not counted: there cannot be enough of them to matter. */
const UNCOUNTED_BYTES = 16 * 1024;

/** Reads request bodies within limits of memory and time. */
export class RequestBodies implements Disposable {
  readonly #budget: BodyBudget;
  readonly #reads: PacedReads;

  constructor({ threads = 1, pace }: { threads?: number; pace?: Partial<BodyPace> } = {}) {
    this.#budget = new BodyBudget(threads);
    this.#reads = new PacedReads(pace);
  }

  get pace(): BodyPace {
    return this.#reads.pace;
  }

  async read(request: Request, { owner, bytesMax, limits }: BodyOptions): Promise<TakenBody> {
    const header = request.headers.get("content-length");
    const length = header === null ? null : Number(header);
    if (length !== null && length > bytesMax) throw tooLarge(bytesMax);
    if (length !== null && length <= UNCOUNTED_BYTES) {
      // The server enforces the announced length, so the body can be read in one piece.
      const bytes = await this.#reads.whole(request.bytes());
      return { bytes, reservation: null };
    }
    if (request.body === null) return { bytes: new Uint8Array(), reservation: null };
    const reservation = this.#budget.take(owner, length ?? 0, limits);
    try {
      beginBody(request);
      const bytes = await this.#readPieces(request.body, { length, bytesMax, reservation });
      finishBody(request);
      reservation.finishReading();
      return { bytes, reservation };
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  async #readPieces(
    body: ReadableStream<Uint8Array>,
    { length, bytesMax, reservation }: {
      length: number | null;
      bytesMax: number;
      reservation: BodyReservation;
    },
  ): Promise<Uint8Array> {
    const whole = new GrowingBuffer(length ?? bytesMax);
    await this.#reads.pieces(body, {
      announced: length ?? 0,
      take: (piece) => {
        if (whole.length + piece.length > bytesMax) throw tooLarge(bytesMax);
        reservation.arrive(piece.length);
        whole.add(piece);
      },
      onBegin: (stop) => reservation.onCancel = stop,
    });
    return whole.bytes();
  }

  [Symbol.dispose](): void {
    this.#reads[Symbol.dispose]();
  }
}

function tooLarge(max: number): ApiError {
  return new ApiError("payload_too_large", `The body is larger than ${max} bytes.`);
}
