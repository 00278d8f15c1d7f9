import { ApiError } from "../../../lib/api_error.ts";

/** What a refusal says, for the form that caused it. Anything else is not a form's to explain. */
export function apiErrorText(error: unknown): string {
  if (error instanceof ApiError && !error.isServerError) return error.message;
  throw error;
}
