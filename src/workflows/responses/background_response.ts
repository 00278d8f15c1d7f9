import type { StoredResponse } from "../../domain/responses/response_store.ts";
import type { ApiError } from "../../lib/api_error.ts";
import type { ChatReply, ChatRequest, ReportedUsage } from "../../upstream/adapter.ts";
import type { AnswerWriter } from "../chat/dialect.ts";
import type { FinishedResponse } from "../tasks/response_of_task.ts";

/** A request for a response in the background, as the edge has read it. */
export interface NewBackgroundResponse {
  readonly request: ChatRequest;
  /** The response that it continues. */
  readonly previous: string | null;
  /** What is stored, once it is known which request the hold covers. */
  toRecord(request: ChatRequest): string;
}

/** How the edge, which knows the API, opens what it has stored. */
export type OpenBackgroundResponse = (stored: StoredResponse) => BackgroundResponse;

/** A stored request, and how its answer is rendered. */
export interface BackgroundResponse {
  readonly request: ChatRequest;
  /** For a streamed answer: takes its chunks. */
  openStream(): AnswerWriter;
  endStream(writer: AnswerWriter, usage: ReportedUsage): Promise<RenderedResponse>;
  /** For a whole answer. */
  render(reply: ChatReply, usage: ReportedUsage): Promise<RenderedResponse>;
  /** The error with the client's own names of fields. */
  toClientError(error: ApiError): ApiError;
}

export interface RenderedResponse {
  readonly status: FinishedResponse["status"];
  /** What is stored in place of the request. */
  readonly record: string;
}
