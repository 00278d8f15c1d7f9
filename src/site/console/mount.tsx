import type { SiteDeps, SiteRouter } from "../context.ts";
import { personOf } from "../context.ts";
import { sendPage } from "../layout.tsx";
import { Empty, PageHead } from "../parts.tsx";

/** The console: every page is behind sign-in already. */
export function mountConsole(site: SiteRouter, _deps: SiteDeps): void {
  site.get("/console", (c) =>
    sendPage(
      c,
      { title: "Console", at: "console" },
      <>
        <PageHead title={`Hello, ${personOf(c).name}`} />
        <div class="card">
          <Empty title="Nothing here yet" />
        </div>
      </>,
    ));
}
