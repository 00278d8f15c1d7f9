import { Duplex } from "node:stream";

/** A message port as the stream of bytes that the driver expects. Null means the end. */
export class PgliteSocket extends Duplex {
  constructor(private readonly port: MessagePort) {
    super({ allowHalfOpen: false });
    port.onmessage = ({ data }: MessageEvent<Uint8Array<ArrayBuffer> | null>) => {
      this.push(data === null ? null : new Uint8Array(data.buffer, data.byteOffset, data.length));
    };
  }

  // No back-pressure is needed: the engine processes one message at a time.
  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    const copy = new Uint8Array(chunk);
    this.port.postMessage(copy, [copy.buffer]);
    done();
  }

  override _final(done: () => void): void {
    this.port.postMessage(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.port.postMessage(null);
    this.port.close();
    done(error);
  }
}
