import { join } from "node:path";
import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import { cleanFiles } from "./clean.ts";
import { safeFilename } from "./filename.ts";
import { BadOutput, type Files, type MediaKind, type StoredFile } from "./files.ts";
import { HashingReader } from "./hashing_reader.ts";
import { RAW_AUDIO } from "./media_types.ts";
import { MediaProbe } from "./media_probe.ts";
import { expireRow, findRow, listRows, toStoredFile } from "./rows.ts";
import { UrlSigner } from "./signed_url.ts";
import { storeFile } from "./store_file.ts";
import { Stores } from "./stores.ts";
import { UnlistedBytes } from "./unlisted_bytes.ts";
import { UnlistedOutputs } from "./unlisted_outputs.ts";
import { periodic } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface FilesOptions {
  sql: Queries;
  dataDir: string;
  /** As declared now. */
  storage: () => Config["storage"];
  /** Where clients reach this gateway, without `/v1`. */
  address: () => string;
  log: Pick<Log, "info" | "warn" | "error">;
  /** How often what is past its time is taken away. */
  cleanEveryMs?: number;
}

export interface OpenFiles extends Files, AsyncDisposable {
  /** Takes away what is past its time; it also happens by itself. */
  clean(): Promise<number>;
  /** Takes note of a new secret that addresses are signed with; it also happens by itself. */
  refreshSecrets(): Promise<void>;
  /** Keys that all nodes share, for a purpose of its own; the newest first. */
  keysFor(purpose: string): readonly Uint8Array[];
}

/** Longer than any job takes; the address is only a bell. */
const CALLBACK_SECONDS = 48 * 3600;
const FILE_ID = /^file_[0-9a-z]{26}$/;

/** What a model makes may be larger than what clients may send. */
const OUTPUT_BYTES_MAX: Readonly<Record<MediaKind, number>> = {
  image: 64 * 1024 * 1024,
  audio: 256 * 1024 * 1024,
  video: 2 * 1024 * 1024 * 1024,
};

export async function openFiles(options: FilesOptions): Promise<OpenFiles> {
  const { sql, storage, log } = options;
  const stores = new Stores(options.dataDir, storage);
  const signer = new UrlSigner(sql);
  await signer.refresh();
  let isToldOfNone = false;
  const probe = new MediaProbe((account_id, error) => {
    if (error.reason !== "unavailable") {
      return log.warn("media probe gave up, size and length stay unknown", {
        account_id,
        error,
      });
    }
    // Of the platform, or of how the gateway was started: worth one line, not one for each file.
    if (!isToldOfNone) log.warn("child processes are not allowed, media files are not measured");
    isToldOfNone = true;
  });
  const parts = { sql, stores, probe };
  const outputs = new UnlistedOutputs(sql);
  const bytes = new UnlistedBytes({ sql, root: join(options.dataDir, "files") });
  const cleanNow = async () => {
    const unlisted = await outputs.sweep();
    if (unlisted > 0) log.info("ended outputs that no task lists", { files: unlisted });
    return await cleanFiles(
      parts,
      (id, error) => log.warn("cannot delete the bytes of a file", { id, error }),
    );
  };
  const cleaning = keepCleaning(async () => {
    await signer.refresh();
    const cleaned = await cleanNow();
    if (cleaned > 0) log.info("deleted files past their time", { files: cleaned });
    const { setAside, deleted } = await bytes.sweep();
    if (setAside + deleted > 0) log.warn("bytes without a file row", { setAside, deleted });
  }, options);

  const find = async (id: string): Promise<StoredFile | null> => {
    // What is no id is no question for the database.
    const row = FILE_ID.test(id) ? await findRow(sql, id) : null;
    return row === null ? null : toStoredFile(row);
  };
  const findOwn = async (account: string, id: string) => {
    const file = await find(id);
    return file?.account === account ? file : null;
  };
  const open: Files["open"] = (file, range) => stores.named(file.store).get(file.id, range);

  return {
    async upload(account, { filename, body, announcedBytes }, spaceBytes) {
      const intake = new HashingReader(body);
      try {
        const type = await typeOf(probe, account, intake);
        const { [type.kind]: kindMax, keepDays } = storage().uploads;
        // What was announced is no more than that: the connection sees to it.
        const bytesMax = Math.min(kindMax, announcedBytes ?? kindMax);
        return await storeFile(parts, {
          account,
          origin: "upload",
          taskId: null,
          filename: safeFilename(filename, type.extension),
          type,
          intake,
          bytesMax,
          tooLarge: () => tooLarge(type.kind, kindMax),
          space: { bytes: spaceBytes, noRoom: (taken) => noRoom(spaceBytes, taken) },
          keepDays,
        });
      } finally {
        await intake.close();
      }
    },
    async storeOutput(account, { taskId, body, kind, mimeType, name = "output" }) {
      const intake = new HashingReader(body);
      try {
        const head = await intake.peek();
        const type = await probe.sniff(account, head) ??
          (mimeType === RAW_AUDIO.mimeType ? RAW_AUDIO : null);
        if (head.length === 0) throw new BadOutput("the output is empty");
        if (type?.kind !== kind) {
          throw new BadOutput(`the output is ${type?.mimeType ?? "no media"}, not ${kind}`);
        }
        return await storeFile(parts, {
          account,
          origin: "output",
          taskId,
          filename: safeFilename(`${name}.${type.extension}`, type.extension),
          type,
          intake,
          bytesMax: OUTPUT_BYTES_MAX[kind],
          tooLarge: () => new BadOutput("the output is too large"),
          space: null,
          keepDays: storage().outputs.keepDays,
        });
      } finally {
        await intake.close();
      }
    },
    find: findOwn,
    findAny: find,
    async list(account, page) {
      const { rows, hasMore } = await listRows(sql, { ...page, account });
      return { data: rows.map(toStoredFile), hasMore };
    },
    open,
    async openInput(account, id, bytesMax) {
      const file = await findOwn(account, id);
      if (file === null) throw fileNotFound("invalid_request");
      if (file.bytes > bytesMax) throw tooLarge(file.kind, bytesMax);
      return { file, bytes: await new Response(await open(file)).bytes() };
    },
    async remove(account, id) {
      return FILE_ID.test(id) && await expireRow(sql, account, id) !== null;
    },
    signedUrl(fileId, now) {
      const expires = Math.floor(now / 1000) + storage().outputs.urlHours * 3600;
      const signature = signer.sign(fileId, expires);
      return {
        url: `${options.address()}/content/${fileId}?expires=${expires}&signature=${signature}`,
        expiresAt: new Date(expires * 1000),
      };
    },
    callbackUrl(taskId, now) {
      const expires = Math.floor(now / 1000) + CALLBACK_SECONDS;
      const signature = signer.sign(`callback:${taskId}`, expires);
      return `${options.address()}/callbacks/${taskId}?expires=${expires}&signature=${signature}`;
    },
    verifyUrl: (fileId, query, now) =>
      signer.verify(fileId, query.expires ?? "", query.signature ?? "", now),
    clean: cleanNow,
    refreshSecrets: () => signer.refresh(),
    keysFor: (purpose) => signer.keysFor(purpose),
    async [Symbol.asyncDispose]() {
      await probe[Symbol.asyncDispose]();
      await cleaning[Symbol.asyncDispose]();
    },
  };
}

async function typeOf(probe: MediaProbe, account: string, intake: HashingReader) {
  const head = await intake.peek();
  if (head.length === 0) {
    throw new ApiError("invalid_value", "The file is empty.", { param: "file" });
  }
  const type = await probe.sniff(account, head);
  if (type === null) {
    throw new ApiError(
      "unsupported_media_type",
      "The file must be an image, audio or video. Its content decides, not its name.",
      { param: "file" },
    );
  }
  return type;
}

function tooLarge(kind: MediaKind, bytesMax: number): ApiError {
  const message = `The file is too large: ${kind} may have ${bytesMax} bytes.`;
  return new ApiError("payload_too_large", message, { param: "file" });
}

function noRoom(spaceBytes: number, taken: number): ApiError {
  return new ApiError(
    "storage_limit_exceeded",
    `There is no room for the file: uploads of this account may take ${spaceBytes} bytes, and ${taken} ` +
      "are taken. Delete files with DELETE /v1/files/{file_id}, or change plan.",
    { param: "file" },
  );
}

export function fileNotFound(kind: "invalid_request" | "not_found"): ApiError {
  return new ApiError("file_not_found", "There is no such file: it may be past its time.", {
    kind,
    param: "file_id",
  });
}

const CLEAN_EVERY_MS = 60_000;

/** Every node cleans; they do not get in each other's way. */
function keepCleaning(work: () => Promise<void>, { log, cleanEveryMs }: FilesOptions) {
  return periodic(work, {
    intervalMs: cleanEveryMs ?? CLEAN_EVERY_MS,
    onError(error) {
      if (!isStorageDown(error)) log.error("cannot clean up files", { error });
    },
  });
}
