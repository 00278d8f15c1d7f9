import type { SiteDeps, SiteRouter } from "../context.ts";
import { personOf } from "../context.ts";
import { sendPage } from "../layout.tsx";
import { Form, PageHead } from "../parts.tsx";

export function mountAccount(site: SiteRouter, _deps: SiteDeps): void {
  site.get("/account", (c) =>
    sendPage(
      c,
      { title: "Account", at: "account", width: "text" },
      <>
        <PageHead title="Account" />
        <div class="card stack">
          <p>{personOf(c).email}</p>
          <Form c={c} action="/sign-out">
            <button class="button" type="submit">Sign out</button>
          </Form>
        </div>
      </>,
    ));
}
