import type { SiteContext, SiteDeps } from "../context.ts";
import { sendPage } from "../layout.tsx";

export function landing(_deps: SiteDeps) {
  return function landing(c: SiteContext): Response {
    const { service } = c.env.plan;
    return sendPage(c, { title: service.name }, <h1>{service.name}</h1>);
  };
}
