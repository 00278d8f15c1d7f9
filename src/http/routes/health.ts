import { healthz, readyz } from "../health.ts";
import { json, type ProbeRoute } from "./route.ts";

/** Probes answer while the node starts and while it stops, before any router is asked. */
export const healthRoutes: { readonly title: string; readonly routes: readonly ProbeRoute[] } = {
  title: "Health",
  routes: [
    {
      method: "GET",
      path: "/healthz",
      auth: "none",
      summary: "Check that the process listens",
      responses: { 200: json("Health", "The process listens.") },
      example: {},
      probe: healthz,
    },
    {
      method: "GET",
      path: "/readyz",
      auth: "none",
      summary: "Check that the node accepts requests",
      responses: {
        200: json("Readiness", "The node accepts requests."),
        503: json("Readiness", "The node does not accept requests; the checks say why."),
      },
      example: {},
      probe: readyz,
    },
  ],
};
