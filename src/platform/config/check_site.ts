import { blockOf, type Checker, listOf } from "./checker.ts";
import type { Declaration } from "./gateway_file.ts";

/** Ways to sign in: no two alike, and an address for people to come back to. */
export function checkSite(checker: Checker, declared: Partial<Declaration>): void {
  const site = blockOf(declared.site);
  const seen = new Map<string, number>();
  let isOn = false;
  for (const [index, value] of listOf(site.sign_in).entries()) {
    const { id, client_id, client_secret } = blockOf(value);
    isOn ||= client_id !== "" && client_secret !== "";
    if (typeof id !== "string" || checker.isSpoiled(["site", "sign_in", index, "id"])) continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else {
      checker.report(["site", "sign_in", index, "id"], {
        message: `site.sign_in[${first}] has this id already`,
      });
    }
  }
  if (isOn && site.url === undefined) {
    checker.report(["site", "sign_in"], {
      severity: "warning",
      message: "without site.url people come back to whatever address they used",
      suggestion: "Declare site.url, as registered at the provider.",
    }, "key");
  }
}
