import { providerCallback } from "../endpoints/callbacks.ts";
import { signedContent } from "../endpoints/content.ts";
import { retrieveDocument } from "../endpoints/document.ts";
import { retrieveLogo } from "../endpoints/logo.ts";
import { retrieveMetrics } from "../endpoints/metrics.ts";
import { CONTENT_RESPONSES } from "./files.ts";
import { inPath, SIGNATURE } from "./parameters.ts";
import { content, empty, fixedRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const SIGNED = { expires: "1798675200", signature: SAMPLE.signature };

/** Routes outside of /v1 and /admin: for browsers, providers and monitoring. */
export const serviceRoutes: RouteArea = {
  title: "Service",
  routes: [
    fixedRoute({
      method: "GET",
      path: "/content/{file_id}",
      auth: "signed_url",
      summary: "Download a file by its signed URL",
      description:
        "Outputs of tasks have such URLs. Supports `Range`, `If-Range`, `If-None-Match` and `HEAD`.",
      parameters: [inPath("file_id", "Id of the file."), ...SIGNATURE],
      responses: CONTENT_RESPONSES,
      example: { path: { file_id: SAMPLE.image }, query: SIGNED },
      handler: signedContent,
    }),
    fixedRoute({
      method: "POST",
      path: "/callbacks/{task_id}",
      auth: "signed_url",
      summary: "Report a change of a job",
      description: "For providers: they get this URL with the job. The body is the provider's own.",
      parameters: [inPath("task_id", "Id of the task."), ...SIGNATURE],
      responses: { 204: empty("The task is looked at.") },
      example: { path: { task_id: SAMPLE.task }, query: SIGNED },
      handler: providerCallback,
    }),
    fixedRoute({
      method: "GET",
      path: "/logos/{logo}",
      auth: "none",
      summary: "Retrieve the logo of a model",
      description: "`logo` of a model leads here where the operator has set none.",
      parameters: [inPath("logo", "Id of the model, and `.svg`.")],
      responses: { 200: content("image/svg+xml", "An image.") },
      example: { path: { logo: "sim-chat.svg" } },
      handler: retrieveLogo,
    }),
    fixedRoute({
      method: "GET",
      path: "/metrics",
      auth: "metrics_token",
      scope: "read",
      summary: "Retrieve the metrics of this process",
      responses: {
        200: content(
          "text/plain",
          "Metrics in Prometheus' text format; in that of OpenMetrics with `Accept: application/openmetrics-text`.",
        ),
      },
      example: {},
      handler: retrieveMetrics,
    }),
    fixedRoute({
      method: "GET",
      path: "/openapi.json",
      auth: "none",
      summary: "Retrieve this document",
      responses: { 200: content("application/json", "An OpenAPI 3.1 document.") },
      example: {},
      handler: retrieveDocument,
    }),
  ],
};
