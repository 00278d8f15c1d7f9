import { concatBytes } from "../../lib/bytes.ts";
import type { PGlite } from "@electric-sql/pglite";
import type { Activity } from "./embedded_activity.ts";
import { FatalErrors } from "./fatal_errors.ts";

/** Request codes in the place of a startup message's protocol version. */
const CANCEL_REQUEST = 80_877_102;
const TERMINATE = "X".charCodeAt(0);

export interface SessionOptions {
  activity: Activity;
  /** Called when the engine reports that it cannot continue. It may never respond again after that. */
  onFatal: (reason: string) => void;
}

/**
 * Serves connections to the engine, which is one session: one connection at a time, from its first message to
 * its end. Null means the end, in both directions.
 */
export class PgliteConnections {
  #turn: Promise<void> = Promise.resolve();
  readonly #fatal = new FatalErrors();

  constructor(private readonly db: PGlite, private readonly options: SessionOptions) {}

  serve(port: MessagePort): void {
    const before = this.#turn;
    const ended = Promise.withResolvers<void>();
    this.#turn = before.then(() => ended.promise);
    const messages = new MessageSplitter();
    let work = before;
    let open = true;
    const end = () => {
      if (!open) return;
      open = false;
      work = work.then(() => this.#leave()).finally(() => {
        port.postMessage(null);
        port.close();
        ended.resolve();
      });
      // The error is reported where the engine failed.
      work.catch(() => {});
    };
    port.onmessage = ({ data }: MessageEvent<Uint8Array<ArrayBuffer> | null>) => {
      if (data === null) return end();
      for (const message of messages.add(data)) {
        // There is no second process that could cancel a running query.
        if (!open || message === "cancel") continue;
        if (message[0] === TERMINATE) return end();
        work = work.then(() => this.#execute(message, port));
        work.catch(end);
      }
    };
  }

  async #execute(message: Uint8Array, port: MessagePort): Promise<void> {
    const { activity, onFatal } = this.options;
    await this.db.runExclusive(async () => {
      activity.step();
      try {
        await this.db.execProtocolRawStream(message, {
          onRawData: (data) => {
            // A view of the engine's memory: it must be copied, not transferred.
            const copy = data.slice();
            const reason = this.#fatal.find(copy);
            port.postMessage(copy, [copy.buffer]);
            if (reason === null) return;
            onFatal(reason);
            // Throws out of the engine at once: it would enter an endless loop, in which a thread cannot be terminated.
            throw new Error(reason);
          },
        });
      } finally {
        activity.step();
      }
    });
  }

  /** Cleans up for the next connection: no open transaction, no prepared statement. */
  async #leave(): Promise<void> {
    const { activity } = this.options;
    activity.step();
    try {
      if (this.db.isInTransaction()) await this.db.exec("rollback");
      await this.db.exec("discard all");
    } finally {
      activity.step();
    }
  }
}

/** Splits a stream of bytes into protocol messages. The first has no type byte before its length. */
export class MessageSplitter {
  #rest = new Uint8Array(0);
  #started = false;

  *add(chunk: Uint8Array<ArrayBuffer>): Iterable<Uint8Array | "cancel"> {
    const bytes = this.#rest.length === 0 ? chunk : concatBytes([this.#rest, chunk]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (true) {
      const letter = this.#started ? 1 : 0;
      if (bytes.length - at < letter + 4) break;
      const length = letter + view.getUint32(at + letter);
      if (bytes.length - at < length) break;
      const message = bytes.subarray(at, at + length);
      if (!this.#started && view.getUint32(at + 4) === CANCEL_REQUEST) yield "cancel";
      else {
        this.#started = true;
        yield message;
      }
      at += length;
    }
    this.#rest = bytes.slice(at);
  }
}
