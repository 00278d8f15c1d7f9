import { ApiError } from "../../lib/api_error.ts";

/**
 * The connection broke before the end of the body: before its announced length, or its last chunk. The client has
 * disconnected, and hardly any client sees this error.
 */
export class CutBody extends ApiError {
  constructor(cause: unknown) {
    super("invalid_value", "The body ended before it was whole.", { cause });
  }
}
