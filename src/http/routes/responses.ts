import { RESPONSES_REQUEST } from "../endpoints/charged_requests.ts";
import { createResponse } from "../endpoints/create_response.ts";
import {
  cancelResponse,
  deleteResponse,
  listInputItems,
  retrieveResponse,
} from "../endpoints/responses.ts";
import { ANSWERED, inPath, PAGE } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const RESPONSES_OPERATION = { operation: "responses", auth: "api_key" } as const;
const ID = inPath("response_id", "Id of a stored response.");
const example = { path: { response_id: SAMPLE.response } };

export const responseRoutes: RouteArea = {
  title: "Responses",
  routes: [
    operationRoute({
      ...RESPONSES_OPERATION,
      serves: "chat",
      method: "POST",
      path: "/responses",
      isCharged: true,
      summary: "Create a response",
      description:
        "OpenAI's Responses API, on every chat model. With `stream: true` the response is a stream of server-sent events. " +
        "Unless `store` is false it is kept for some days, and `previous_response_id` continues it. With `background: true` " +
        "the response is returned at once with the status `queued`, and a task makes it.",
      request: RESPONSES_REQUEST,
      parameters: ANSWERED,
      responses: {
        200: {
          description: "The response, or with `stream: true` its events.",
          content: { "application/json": "Response", "text/event-stream": null },
        },
      },
      example: {
        body: {
          model: "sim-chat",
          instructions: "Answer in one sentence.",
          input: "Why is the sky blue?",
          max_output_tokens: 100,
        },
      },
      handler: createResponse,
    }),
    operationRoute({
      ...RESPONSES_OPERATION,
      method: "GET",
      path: "/responses/{response_id}",
      summary: "Retrieve a response",
      parameters: [ID],
      responses: { 200: json("Response", "The stored response.") },
      example,
      handler: retrieveResponse,
    }),
    operationRoute({
      ...RESPONSES_OPERATION,
      method: "GET",
      path: "/responses/{response_id}/input_items",
      summary: "List the input items of a response",
      parameters: [ID, ...PAGE],
      responses: { 200: json("InputItemList", "The items of the request.") },
      example,
      handler: listInputItems,
    }),
    operationRoute({
      ...RESPONSES_OPERATION,
      method: "POST",
      path: "/responses/{response_id}/cancel",
      summary: "Cancel a response",
      description:
        "Cancels a response that was created with `background: true`. One that has ended is returned as it is.",
      parameters: [ID],
      responses: { 200: json("Response", "The response.") },
      example,
      handler: cancelResponse,
    }),
    operationRoute({
      ...RESPONSES_OPERATION,
      method: "DELETE",
      path: "/responses/{response_id}",
      summary: "Delete a response",
      description: "A background response that has not ended is cancelled first.",
      parameters: [ID],
      responses: { 200: json("DeletedResponse", "The response is deleted.") },
      example,
      handler: deleteResponse,
    }),
  ],
};
