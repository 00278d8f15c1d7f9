import type { SiteDeps, SiteRouter } from "../context.ts";
import { browserAuthorizationGuide } from "./browser_authorization.tsx";
import { errorsGuide } from "./errors.tsx";
import { quickStart } from "./quick_start.tsx";
import { reference } from "./reference.tsx";
import { tasksGuide } from "./tasks.tsx";
import { webhooksGuide } from "./webhooks.tsx";

/** The documentation: guides, and the reference of what is really served. */
export function mountDocs(site: SiteRouter, deps: SiteDeps): void {
  site.get("/docs", quickStart);
  site.get("/docs/tasks", tasksGuide);
  site.get("/docs/webhooks", webhooksGuide);
  site.get("/docs/errors", errorsGuide);
  site.get("/docs/browser-authorization", browserAuthorizationGuide);
  site.get("/docs/reference", reference(deps, "client"));
  site.get("/docs/operator", reference(deps, "operator"));
}
