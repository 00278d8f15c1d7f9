import type { Hono } from "hono";
import { ApiError } from "../../lib/api_error.ts";
import type { Files } from "../../domain/files/files.ts";
import type { Env } from "../exchange.ts";
import { methodNotAllowed } from "../method_not_allowed.ts";
import { sendFile } from "../send_file.ts";

const PATH = "/content/:file_id";

/** GET /content/{file_id}?expires=…&signature=…: content for the holder of a signed URL, without a key. */
export function mountContent(app: Hono<Env>, fallback: Hono<Env>, files: Files): void {
  app.get(PATH, async function content(c) {
    c.env.route = "/content/{file_id}";
    const id = c.req.param("file_id");
    const isOurs = await files.verifyUrl(id, c.req.query(), Date.now());
    const file = isOurs ? await files.findAny(id) : null;
    if (file === null) {
      throw new ApiError(
        "file_not_found",
        "This URL is invalid or has expired. Retrieve the task again to get a new one.",
      );
    }
    return await sendFile(c, files, file);
  });
  fallback.all(PATH, methodNotAllowed(["GET"]));
}
