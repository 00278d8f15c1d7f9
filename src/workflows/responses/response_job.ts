import { z } from "zod";
import { parseStored } from "../../lib/stored_json.ts";

/** Job of a task that makes a background response. What was asked for is in the row of the response, sealed. */
export interface ResponseJob {
  /** Of the key that sent the request. */
  readonly token_rate: { readonly api_key: string; readonly per_minute: number };
}

const responseJob: z.ZodType<ResponseJob> = z.object({
  token_rate: z.object({ api_key: z.string(), per_minute: z.number().positive() }),
});

export function parseResponseJob(stored: unknown): ResponseJob {
  return parseStored(responseJob, "job", stored);
}
