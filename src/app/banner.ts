import { countAccounts, createAccount } from "../domain/accounts/accounts.ts";
import { createKey } from "../domain/accounts/api_keys.ts";
import type { Settings } from "./environment.ts";
import type { Gateway } from "./open_gateway.ts";
import { nullIfUnavailable } from "../platform/database/storage_error.ts";
import { VERSION } from "../platform/telemetry/version.ts";
import { addCredit } from "../domain/ledger/credit.ts";

/** What the operator reads after the start. */
export async function startupBanner(gateway: Gateway, settings: Settings): Promise<string> {
  const { service, models, unavailableModels } = gateway.configStore.current;
  const key = await demoKey(gateway);
  const lines = [
    "",
    `  ${service.name} ${VERSION} listens on ${gateway.address}` +
    (settings.isDrill ? ", as a drill: no provider, webhook or task runs" : ""),
    "",
    `  config       ${settings.configFile} (${gateway.configStore.current.version}), ${models.size} models` +
    (unavailableModels.length === 0
      ? ""
      : `, ${unavailableModels.length} more when their provider has a key`),
    `  database     ${gateway.database.describe}`,
    `  admin token  ${
      settings.adminToken === undefined ? `${settings.dataDir}/admin-token` : "from ADMIN_TOKEN"
    }`,
    `  console      ${gateway.configStore.current.site.url ?? gateway.address}/console`,
    `  API document ${gateway.address}/openapi.json`,
  ];
  if (key !== null) {
    lines.push(
      "",
      `  An account "demo" with 10.00 ${service.currency} of credit was created. Its key is shown only once:`,
      "",
      `    ${key}`,
      "",
      "  Try it:",
      "",
      `    curl ${gateway.address}/v1/models -H "Authorization: Bearer ${key}"`,
    );
  } else if (await countAccounts(gateway.database.sql).catch(nullIfUnavailable) === 0) {
    lines.push(
      "",
      "  There is no account yet. Make one, give it credit and a key:",
      "",
      "    deno task gateway account create <name>",
      `    deno task gateway account credit <account> 10.00 --reference first`,
      "    deno task gateway key create <account> --name <name>",
    );
  } else {
    lines.push("", "  More keys:  deno task gateway key create <account> --name <name>");
  }
  return [...lines, ""].join("\n");
}

/** An empty embedded database is a first start: an account with credit lets the operator try a request at once. */
async function demoKey({ database }: Gateway): Promise<string | null> {
  if (database.kind !== "embedded" || await countAccounts(database.sql) > 0) return null;
  const account = await createAccount(database.sql, { name: "demo" });
  await addCredit(database.sql, {
    account: account.id,
    kind: "gift",
    amount: "10.00",
    reference: "welcome",
  });
  return (await createKey(database.sql, account.id, "first key")).key;
}
