import type { ToolCallDelta } from "../../upstream/adapter.ts";

/** A tool call whose arguments arrive in pieces. */
export interface StreamedCall {
  readonly index: number;
  id: string;
  name: string;
  /** The arguments so far. */
  written: string;
  /** How much of them was sent to the client; null before its block has begun. */
  sent: number | null;
}

/**
 * Puts the pieces of parallel calls in order: clients of the Messages API and of Responses get one call after the other, and some providers write
 * two calls at once. A call gives way to the next one when its arguments are complete.
 */
export class CallQueue {
  readonly #calls = new Map<number, StreamedCall>();
  readonly #waiting: StreamedCall[] = [];
  #current: StreamedCall | null = null;

  /** Takes a piece; returns the calls to write now, each with unsent arguments or not yet begun. */
  add({ index, id, function: piece }: ToolCallDelta): StreamedCall[] {
    let call = this.#calls.get(index);
    if (call === undefined) {
      call = { index, id: id ?? "", name: piece?.name ?? "", written: "", sent: null };
      this.#calls.set(index, call);
      if (this.#current === null) this.#current = call;
      else this.#waiting.push(call);
    }
    call.written += piece?.arguments ?? "";
    return this.#take((current) => isComplete(current.written));
  }

  /** The calls that are left when no more pieces come. */
  flush(): StreamedCall[] {
    return this.#take(() => true);
  }

  #take(isOver: (call: StreamedCall) => boolean): StreamedCall[] {
    if (this.#current === null) return [];
    const calls = [this.#current];
    while (this.#waiting.length > 0 && isOver(this.#current)) {
      this.#current = this.#waiting.shift()!;
      calls.push(this.#current);
    }
    return calls;
  }
}

function isComplete(written: string): boolean {
  try {
    JSON.parse(written);
    return true;
  } catch {
    return false; // a SyntaxError: more is to come
  }
}
