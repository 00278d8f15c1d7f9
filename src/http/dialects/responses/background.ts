import { z } from "zod";
import type { ResponsesRequest } from "../../../../schemas/requests.ts";
import type { ResponseTask } from "../../../domain/responses/response_store.ts";
import type { ApiError } from "../../../lib/api_error.ts";
import { parseStored } from "../../../lib/stored_json.ts";
import type { ChatRequest } from "../../../upstream/adapter.ts";
import type { Heading } from "../../../workflows/chat/dialect.ts";
import type {
  NewBackgroundResponse,
  OpenBackgroundResponse,
  RenderedResponse,
} from "../../../workflows/responses/background_response.ts";
import { responseIdOf } from "../../../workflows/tasks/response_of_task.ts";
import { inClientTerms, type JsonFields } from "../translated.ts";
import { responsesDialect } from "./dialect.ts";
import { type ResponseRecord, withItemIds } from "./load_items.ts";
import { RESPONSES_NAMES, type TranslatedResponse } from "./read_request.ts";
import { readTools } from "./read_tools.ts";
import type { ReasoningBox } from "./reasoning_box.ts";
import { echoedFields, IN_PROGRESS, type Progress } from "./response_object.ts";

/** What is stored of a request until its answer takes its place. */
interface PendingRequest {
  readonly heading: Heading;
  /** As the client sent it, without its input. */
  readonly asked: ResponsesRequest;
  /** With all that it continues, as the engine takes it. */
  readonly request: ChatRequest;
  /** Where the client wrote each message. */
  readonly paths: readonly string[];
}

type PendingRecord = ResponseRecord & { readonly pending: PendingRequest };

const pendingRecord: z.ZodType<PendingRecord> = z.object({
  response: z.looseObject({ id: z.string(), output: z.array(z.looseObject({})) }),
  input: z.array(z.looseObject({})),
  pending: z.object({
    heading: z.object({
      requestId: z.string(),
      model: z.string(),
      created: z.number(),
      fingerprint: z.string(),
    }),
    asked: z.looseObject({ model: z.string() }),
    request: z.looseObject({ model: z.string(), messages: z.array(z.looseObject({})) }),
    paths: z.array(z.string()),
  }),
}) as unknown as z.ZodType<PendingRecord>;

/** A request in the background as it was read; `response` is what its client gets at once. */
export interface ReadBackground extends NewBackgroundResponse {
  readonly response: JsonFields;
}

export function newBackground(
  heading: Heading,
  body: ResponsesRequest,
  { request, paths }: TranslatedResponse,
  input: readonly JsonFields[],
): ReadBackground {
  const queued: Progress = { ...IN_PROGRESS, status: "queued" };
  const response: JsonFields = { ...echoedFields(heading, body), ...queued };
  const { input: _, ...asked } = body;
  return {
    request,
    response,
    previous: response.previous_response_id as string | null,
    toRecord: (held) =>
      JSON.stringify({
        response,
        input: withItemIds(responseIdOf(heading.requestId), input),
        pending: { heading, asked, request: held, paths },
      }),
  };
}

/** Opens stored requests for the tasks that answer them. */
export function openBackground(box: ReasoningBox): OpenBackgroundResponse {
  return function openBackgroundResponse({ body }) {
    const { input, pending } = parseStored(pendingRecord, "response", JSON.parse(body));
    const { heading, asked, request, paths } = pending;
    let ended: JsonFields | null = null;
    const dialect = responsesDialect({
      body: asked,
      declared: readTools(asked).declared,
      box,
      save(response) {
        ended = response;
        return Promise.resolve();
      },
    });
    const rendered = (): RenderedResponse => ({
      status: ended!.status as RenderedResponse["status"],
      record: JSON.stringify({ response: ended, input }),
    });
    return {
      request,
      openStream: () => dialect.openStream(heading),
      async endStream(writer, usage) {
        await writer.end(usage);
        return rendered();
      },
      async render(reply, usage) {
        await dialect.renderAnswer(heading, reply, usage);
        return rendered();
      },
      toClientError: (error) => inClientTerms(error, paths, RESPONSES_NAMES) as ApiError,
    };
  };
}

/** Errors of the service in a failed response; others are about the request. */
const SERVER_ERRORS: ReadonlySet<string> = new Set([
  ...["upstream_failed", "upstream_timeout", "model_unavailable", "internal_error"],
]);

/** A stored response as its client sees it now: until its task has made an answer, its state is that of the task. */
export function toCurrentResponse(
  response: ResponseRecord["response"],
  task: ResponseTask | null,
): ResponseRecord["response"] {
  if (task === null || task.status === "succeeded") return response;
  const { status, error } = task;
  switch (status) {
    case "queued":
      return response;
    case "running":
      return { ...response, status: "in_progress" };
    case "cancelled":
      return { ...response, status: "cancelled" };
    default: {
      const { code = "internal_error", message = "The response could not be made." } = error ?? {};
      const shown = { code: SERVER_ERRORS.has(code) ? "server_error" : "invalid_prompt", message };
      return { ...response, status: "failed", error: shown };
    }
  }
}
