import { blockOf, type Checker, listOf } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";

/** Sign-in providers: ids are unique, and the site has a URL for the callback. */
export function checkSite(checker: Checker, file: Partial<GatewayFile>): void {
  const site = blockOf(file.site);
  const seen = new Map<string, number>();
  let isEnabled = false;
  for (const [index, value] of listOf(site.sign_in).entries()) {
    const { id, client_id, client_secret } = blockOf(value);
    isEnabled ||= client_id !== "" && client_secret !== "";
    if (typeof id !== "string" || checker.isInvalid(["site", "sign_in", index, "id"])) continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else {
      checker.report(["site", "sign_in", index, "id"], {
        message: `site.sign_in[${first}] already has this id`,
      });
    }
  }
  if (isEnabled && site.url === undefined) {
    checker.report(["site", "sign_in"], {
      severity: "warning",
      message: "without site.url the callback uses the URL of the request",
      suggestion: "Set site.url to the URL registered at the provider.",
    }, "key");
  }
}
