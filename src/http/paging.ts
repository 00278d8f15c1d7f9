import { ApiError } from "../lib/api_error.ts";
import { type HttpContext, sendJson } from "./exchange.ts";

export interface PageRequest {
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
}

/** `?limit=&after=&order=` of a list. */
export function readPage(c: HttpContext): PageRequest {
  const { limit = "20", after, order = "desc" } = c.req.query();
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100) {
    throw new ApiError("invalid_value", "limit must be a whole number from 1 to 100.", {
      param: "limit",
    });
  }
  if (order !== "asc" && order !== "desc") {
    throw new ApiError("invalid_value", "order must be asc or desc.", { param: "order" });
  }
  if (after !== undefined && !/^[a-z]+_[0-9a-z]{1,64}$/.test(after)) {
    throw new ApiError("invalid_value", "after must be the last_id of the previous page.", {
      param: "after",
    });
  }
  return { limit: Number(limit), after, order };
}

/** Sends one page of a list, with further fields beside the usual ones. */
export function sendJsonPage(
  data: { id: string }[],
  hasMore: boolean,
  more: object = {},
): Response {
  return sendJson(JSON.stringify({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
    ...more,
  }));
}
