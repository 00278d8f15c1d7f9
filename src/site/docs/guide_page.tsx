import { ApiError } from "../../lib/api_error.ts";
import { baseUrlOf, siteOrigin } from "../base_url.ts";
import { pricedAccountOf } from "../console/account.ts";
import type { SiteContext, SiteDeps } from "../context.ts";
import { withClients } from "./connect_guide.tsx";
import { type Guide, readGuide, readReceiver, resolveGuideLink } from "./guides.ts";
import { renderMarkdown } from "./markdown.tsx";
import { fillInValues } from "./sample_values.ts";
import { stateValues } from "./stated_values.ts";
import { sendDocs } from "./shell.tsx";

/** GET /docs/…: a file of docs/use with the values of this gateway. */
export function guidePage({ database }: SiteDeps, guide: Guide) {
  return async (c: SiteContext): Promise<Response> => {
    const account = c.var.signedIn === null
      ? { id: "", plan: "free" }
      : await pricedAccountOf(c, { database });
    const fillIn = fillInValues(c.env.config, {
      siteUrl: siteOrigin(c),
      baseUrl: baseUrlOf(c),
      account,
    });
    const { text, parts } = withClients(
      c,
      account,
      stateValues(await readGuide(guide), c.env.config),
    );
    const { title, content } = renderMarkdown(text, {
      fillIn,
      resolveLink: resolveGuideLink,
      parts,
    });
    return sendDocs(c, { title }, content);
  };
}

/** GET /docs/receivers/:name: sample code as plain text. */
export async function receiverFile(c: SiteContext): Promise<Response> {
  const text = await readReceiver(c.req.param("name") ?? "");
  if (text === null) throw new ApiError("unknown_endpoint", "There is no such sample file.");
  return new Response(text, {
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  });
}
