import type { EndStatus } from "./task.ts";

/** A background response that its task has made. */
export interface FinishedResponse {
  readonly status: "completed" | "incomplete";
  /** Its record, sealed. */
  readonly body: string;
}

export type EndedResponseStatus = FinishedResponse["status"] | "failed" | "cancelled";

/** The response of a request in the background: both ids have the same digits. */
export function responseIdOf(requestId: string): string {
  return `resp_${requestId.slice("req_".length)}`;
}

/** What clients read of a response whose task has ended. */
export function endedResponseStatus(
  { status, response }: { status: EndStatus; response?: FinishedResponse },
): EndedResponseStatus {
  if (status === "succeeded") return response?.status ?? "completed";
  return status === "cancelled" ? "cancelled" : "failed";
}
