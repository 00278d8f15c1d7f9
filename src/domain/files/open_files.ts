import { join } from "node:path";
import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import { cleanFiles } from "./clean.ts";
import { safeFilename } from "./filename.ts";
import type { FileKind, Files, StoredFile } from "./files.ts";
import { HashingReader } from "./hashing_reader.ts";
import { MediaProbe } from "./media_probe.ts";
import { expireRow, findRow, listRows, toStoredFile } from "./rows.ts";
import { UrlSigner } from "./signed_url.ts";
import { RowWrites } from "./row_writes.ts";
import { storeFile } from "./store_file.ts";
import { type OutputParts, storeJson, storeOutput } from "./store_output.ts";
import { Stores } from "./stores.ts";
import { UnlistedBytes } from "./unlisted_bytes.ts";
import { UnlistedOutputs } from "./unlisted_outputs.ts";
import { periodic } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface FilesOptions {
  sql: Queries;
  dataDir: string;
  /** From the current configuration. */
  storage: () => Config["storage"];
  /** Where clients reach this gateway, without `/v1`. */
  address: () => string;
  log: Pick<Log, "info" | "warn" | "error">;
  /** Nothing is deleted: the bytes may belong to another database too. */
  keepsExpired?: boolean;
  /** How often expired files are deleted. */
  cleanEveryMs?: number;
}

export interface OpenFiles extends Files, AsyncDisposable {
  /** Deletes expired files; also runs periodically. */
  clean(): Promise<number>;
  /** Loads new signing secrets; also runs periodically. */
  refreshSecrets(): Promise<void>;
  /** Keys that all nodes share, derived for one purpose; newest first. */
  keysFor(purpose: string): readonly Uint8Array[];
}

/** Longer than any job takes. A callback only brings the next poll forward. */
const CALLBACK_SECONDS = 48 * 3600;
const FILE_ID = /^file_[0-9a-z]{26}$/;

export async function openFiles(options: FilesOptions): Promise<OpenFiles> {
  const { sql, storage, log } = options;
  const stores = new Stores(options.dataDir, storage);
  const signer = new UrlSigner(sql);
  await signer.refresh();
  const probe = openProbe(log);
  const parts = { sql, rows: new RowWrites(sql), stores, probe, storage };
  const outputs = new UnlistedOutputs(sql);
  const bytes = new UnlistedBytes({ sql, root: join(options.dataDir, "files") });
  const clean = async () => {
    const unlisted = await outputs.sweep();
    if (unlisted > 0) log.info("unlisted outputs expired", { files: unlisted });
    return await cleanFiles(
      parts,
      (id, error) => log.warn("file bytes not deleted", { id, error }),
    );
  };
  const cleaning = keepCleaning(async () => {
    await signer.refresh();
    if (options.keepsExpired) return;
    const cleaned = await clean();
    if (cleaned > 0) log.info("expired files deleted", { files: cleaned });
    const { setAside, deleted } = await bytes.sweep();
    if (setAside + deleted > 0) log.warn("file bytes without a row", { setAside, deleted });
  }, options);

  return {
    upload: (account, upload, spaceBytes) => storeUpload(parts, account, upload, spaceBytes),
    storeOutput: (account, output) => storeOutput(parts, account, output),
    storeJson: (account, output) => storeJson(parts, account, output),
    ...fileReader(sql, stores),
    async remove(account, id) {
      return FILE_ID.test(id) && await expireRow(sql, account, id) !== null;
    },
    ...urlSigning(signer, options),
    clean,
    refreshSecrets: () => signer.refresh(),
    keysFor: (purpose) => signer.keysFor(purpose),
    async [Symbol.asyncDispose]() {
      await probe[Symbol.asyncDispose]();
      await cleaning[Symbol.asyncDispose]();
    },
  };
}

function openProbe(log: FilesOptions["log"]): MediaProbe {
  let hasLoggedUnavailable = false;
  return new MediaProbe((account_id, error) => {
    if (error.reason !== "unavailable") {
      return log.warn("media probe gave up, size and length stay unknown", {
        account_id,
        error,
      });
    }
    // The platform or the start options cause it: logged once, not for each file.
    if (!hasLoggedUnavailable) {
      log.warn("child processes are not allowed, media files are not measured");
    }
    hasLoggedUnavailable = true;
  });
}

async function storeUpload(
  parts: OutputParts,
  account: string,
  { filename, body, announcedBytes }: Parameters<Files["upload"]>[1],
  spaceBytes: number,
): Promise<StoredFile> {
  const reader = new HashingReader(body);
  try {
    const { type, facts } = await sniffUpload(parts.probe, account, reader);
    const { [`${type.kind}BytesMax` as const]: kindMax, keepDays } = parts.storage().uploads;
    // The HTTP connection limits the body to the announced length.
    const bytesMax = Math.min(kindMax, announcedBytes ?? kindMax);
    return await storeFile(parts, {
      account,
      origin: "upload",
      taskId: null,
      filename: safeFilename(filename, type.extension),
      type,
      sniffed: facts,
      reader,
      bytesMax,
      tooLarge: () => tooLarge(type.kind, kindMax),
      space: { bytes: spaceBytes, noRoom: (taken) => noRoom(spaceBytes, taken) },
      keepDays,
    });
  } finally {
    await reader.close();
  }
}

function fileReader(
  sql: Queries,
  stores: Stores,
): Pick<Files, "find" | "findAny" | "list" | "open" | "openInput"> {
  const findAny = async (id: string): Promise<StoredFile | null> => {
    // An invalid id needs no query.
    const row = FILE_ID.test(id) ? await findRow(sql, id) : null;
    return row === null ? null : toStoredFile(row);
  };
  const find = async (account: string, id: string) => {
    const file = await findAny(id);
    return file?.account === account ? file : null;
  };
  const open: Files["open"] = (file, range) => stores.named(file.store).get(file.id, range);
  return {
    find,
    findAny,
    async list(account, page) {
      const { rows, hasMore } = await listRows(sql, { ...page, account });
      return { data: rows.map(toStoredFile), hasMore };
    },
    open,
    async openInput(account, id, bytesMax) {
      const file = await find(account, id);
      if (file === null) throw fileNotFound("invalid_request");
      if (file.bytes > bytesMax) throw tooLarge(file.kind, bytesMax);
      return { file, bytes: await new Response(await open(file)).bytes() };
    },
  };
}

function urlSigning(
  signer: UrlSigner,
  { storage, address }: FilesOptions,
): Pick<Files, "signedUrl" | "callbackUrl" | "verifyUrl"> {
  return {
    signedUrl(fileId, now) {
      const expires = Math.floor(now / 1000) + storage().outputs.urlHours * 3600;
      const signature = signer.sign(fileId, expires);
      return {
        url: `${address()}/content/${fileId}?expires=${expires}&signature=${signature}`,
        expiresAt: new Date(expires * 1000),
      };
    },
    callbackUrl(taskId, now) {
      const expires = Math.floor(now / 1000) + CALLBACK_SECONDS;
      const signature = signer.sign(`callback:${taskId}`, expires);
      return `${address()}/callbacks/${taskId}?expires=${expires}&signature=${signature}`;
    },
    verifyUrl: (fileId, query, now) =>
      signer.verify(fileId, query.expires ?? "", query.signature ?? "", now),
  };
}

async function sniffUpload(probe: MediaProbe, account: string, reader: HashingReader) {
  const head = await reader.peek();
  if (head.length === 0) {
    throw new ApiError("invalid_value", "The file is empty.", { param: "file" });
  }
  const { type, facts } = await probe.sniff(account, head);
  if (type === null) {
    throw new ApiError(
      "unsupported_media_type",
      "The file must be an image, audio or video. Its content decides, not its name.",
      { param: "file" },
    );
  }
  return { type, facts };
}

function tooLarge(kind: FileKind, bytesMax: number): ApiError {
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

/** Every node cleans; each file is claimed by one node. */
function keepCleaning(work: () => Promise<void>, { log, cleanEveryMs }: FilesOptions) {
  return periodic(work, {
    intervalMs: cleanEveryMs ?? CLEAN_EVERY_MS,
    onError(error) {
      if (!isStorageDown(error)) log.error("file cleaning failed", { error });
    },
  });
}
