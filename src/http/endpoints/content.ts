import { ApiError } from "../../lib/api_error.ts";
import { requireActive } from "../../domain/accounts/account_status.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Endpoint } from "../exchange.ts";
import { sendFile } from "../send_file.ts";
import type { FilesDeps } from "./files.ts";

/** GET /content/{file_id}?expires=…&signature=…: content for the holder of a signed URL, without a key. */
export function signedContent({ files, database }: FilesDeps & { database: Database }): Endpoint {
  return async function signedContent(c) {
    const id = c.req.param("file_id") ?? "";
    const isOurs = await files.verifyUrl(id, c.req.query(), Date.now());
    const file = isOurs ? await files.findAny(id) : null;
    if (file === null) {
      throw new ApiError(
        "file_not_found",
        "This URL is invalid or has expired. Retrieve the task again to get a new one.",
      );
    }
    await requireActive(database.sql, file.account);
    return await sendFile(c, files, file);
  };
}
