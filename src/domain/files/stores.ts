import { join } from "node:path";
import type { Bucket, Config } from "../../platform/config/config.ts";
import { type ByteStore, storeFailed } from "./byte_store.ts";
import { LocalStore } from "./local_store.ts";
import { S3Store } from "./s3_store.ts";

export type StoreName = Config["storage"]["files"];

/**
 * The byte stores by name. A file stays in the store it was written to: after a change from the folder to a bucket, old
 * files are still read from the folder.
 */
export class Stores {
  readonly #local: LocalStore;
  #s3: { bucket: Bucket; store: S3Store } | null = null;

  constructor(dataDir: string, private readonly storage: () => Config["storage"]) {
    this.#local = new LocalStore(join(dataDir, "files"));
  }

  /** Where new files go. */
  get chosen(): StoreName {
    return this.storage().files;
  }

  named(name: StoreName): ByteStore {
    if (name === "local") return this.#local;
    const bucket = this.storage().s3;
    if (bucket === null) throw storeFailed(new Error("storage.s3 is no longer configured"));
    if (this.#s3?.bucket !== bucket) this.#s3 = { bucket, store: new S3Store(bucket) };
    return this.#s3.store;
  }
}
