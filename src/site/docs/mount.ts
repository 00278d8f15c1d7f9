import type { SiteDeps, SiteRouter } from "../context.ts";
import { guidePage, receiverFile } from "./guide_page.tsx";
import { GUIDES } from "./guides.ts";
import { reference } from "./reference.tsx";

/** The documentation: the guides of docs/use, and the reference made from the OpenAPI document. */
export function mountDocs(site: SiteRouter, deps: SiteDeps): void {
  for (const guide of GUIDES) site.get(guide.path, guidePage(deps, guide));
  // The page's name until it showed more than SDKs.
  site.get("/docs/sdks", (c) => c.redirect("/docs/connect", 301));
  site.get("/docs/receivers/:name", receiverFile);
  site.get("/docs/reference", reference(deps, "client"));
  site.get("/docs/operator", reference(deps, "operator"));
}
