import { ApiError } from "../../lib/api_error.ts";
import type { Files, StoredFile } from "../../domain/files/files.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readUpload } from "../read_upload.ts";
import { sendFile } from "../send_file.ts";

export interface FilesDeps {
  files: Files;
}

/** POST /v1/files: a form with `file` and `purpose`. */
export function uploadFile({ files }: FilesDeps): Endpoint {
  return async function uploadFile(c) {
    const { imageBytesMax, audioBytesMax, videoBytesMax } = c.env.config.storage.uploads;
    const account = accountOf(c).id;
    const { storageBytes } = c.env.accountPlan!.rates;
    const file = await readUpload(
      c.req.raw,
      Math.max(imageBytesMax, audioBytesMax, videoBytesMax),
      (upload) => files.upload(account, upload, storageBytes),
      c.env.bodies.pace,
    );
    return sendJson(JSON.stringify(toFileJson(file)));
  };
}

/** GET /v1/files, also `?purpose=generation|output`. */
export function listFiles({ files }: FilesDeps): Endpoint {
  return async function listFiles(c) {
    const page = { ...readPage(c), origin: readPurpose(c) };
    const { data, hasMore } = await files.list(accountOf(c).id, page);
    return sendJsonPage(data.map(toFileJson), hasMore);
  };
}

/** GET /v1/files/{file_id} */
export function retrieveFile({ files }: FilesDeps): Endpoint {
  return async function retrieveFile(c) {
    return sendJson(JSON.stringify(toFileJson(await findFile(files, c))));
  };
}

/** DELETE /v1/files/{file_id} */
export function deleteFile({ files }: FilesDeps): Endpoint {
  return async function deleteFile(c) {
    const id = c.req.param("file_id") ?? "";
    if (!await files.remove(accountOf(c).id, id)) throw notFoundError();
    return sendJson(JSON.stringify({ id, object: "file", deleted: true }));
  };
}

/** GET /v1/files/{file_id}/content */
export function retrieveContent({ files }: FilesDeps): Endpoint {
  return async function retrieveContent(c) {
    return await sendFile(c, files, await findFile(files, c));
  };
}

async function findFile(files: Files, c: HttpContext): Promise<StoredFile> {
  const file = await files.find(accountOf(c).id, c.req.param("file_id") ?? "");
  if (file === null) throw notFoundError();
  return file;
}

function notFoundError(): ApiError {
  return new ApiError("file_not_found", "File not found. It may have expired.", {
    param: "file_id",
  });
}

function toFileJson(file: StoredFile) {
  const created = Math.floor(file.createdAt.getTime() / 1000);
  return {
    id: file.id,
    file_id: file.id,
    object: "file",
    purpose: file.origin === "upload" ? "generation" : "output",
    filename: file.filename,
    mime_type: file.mimeType,
    bytes: file.bytes,
    created,
    // OpenAI's name of the same, and its word for a file that can be used.
    created_at: created,
    status: "processed",
    expires_at: file.expiresAt.toISOString(),
  };
}

function readPurpose(c: HttpContext): StoredFile["origin"] | undefined {
  const purpose = c.req.query("purpose");
  if (purpose === undefined) return undefined;
  if (purpose === "generation") return "upload";
  if (purpose === "output") return "output";
  throw new ApiError("invalid_value", "purpose must be generation or output.", {
    param: "purpose",
  });
}
