import { join } from "node:path";
import { type ByteStore, storeFailed } from "./byte_store.ts";
import type { ByteRange, Bytes } from "./files.ts";

const READ_BYTES = 16 * 1024;

/** Bytes in a folder: written to a temporary name, synced, then renamed, so that no reader sees half a file. */
export class LocalStore implements ByteStore {
  constructor(private readonly root: string) {}

  /** The last letters of an id are random: they spread the files over a thousand folders. */
  #folder(key: string): string {
    return join(this.root, key.slice(-2));
  }

  #path(key: string): string {
    return join(this.#folder(key), key);
  }

  async put(key: string, chunks: Bytes): Promise<void> {
    const part = `${this.#path(key)}.part`;
    let file: Deno.FsFile | undefined;
    try {
      file = await disk(() => this.#create(key, part));
      for await (const chunk of chunks) await disk(() => writeAll(file!, chunk));
      await disk(() => file!.sync());
      file.close();
      file = undefined;
      await disk(() => Deno.rename(part, this.#path(key)));
      await syncFolder(this.#folder(key));
    } catch (error) {
      file?.close();
      // Best effort: the sweeper removes partial files.
      await Deno.remove(part).catch(() => {});
      throw error;
    }
  }

  async #create(key: string, path: string): Promise<Deno.FsFile> {
    const create = () => Deno.open(path, { write: true, create: true, truncate: true });
    try {
      return await create();
    } catch (error) {
      // The first file of its folder.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      await Deno.mkdir(this.#folder(key), { recursive: true });
      return await create();
    }
  }

  async get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const file = await disk(() => Deno.open(this.#path(key)));
    try {
      // To the end of the file the runtime itself moves the bytes, and none of them passes through here.
      if (range === undefined) return file.readable;
      await disk(() => file.seek(range.first, Deno.SeekMode.Start));
      const { size } = await disk(() => file.stat());
      return range.last >= size - 1 ? file.readable : readSome(file, range.last - range.first + 1);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    for (const path of [`${this.#path(key)}.part`, this.#path(key)]) {
      await disk(() =>
        Deno.remove(path).catch((error) => {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        })
      );
    }
  }
}

function readSome(file: Deno.FsFile, bytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(READ_BYTES, left));
        const read = left === 0 ? null : await file.read(chunk);
        if (read === null) {
          file.close();
          return controller.close();
        }
        left -= read;
        controller.enqueue(chunk.subarray(0, read));
      } catch (error) {
        file.close();
        controller.error(error);
      }
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}

async function disk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeFailed(error);
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
}

/** Makes the new name itself durable. Not every system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  try {
    using opened = await Deno.open(folder);
    await opened.sync();
  } catch {
    // Then the name is as durable as that system makes it.
  }
}
