import { countAccounts, createAccount } from "./accounts/accounts.ts";
import { createKey } from "./accounts/api_keys.ts";
import { BadDeclaration, renderFaults } from "./config/faults.ts";
import { credit } from "./ledger/credit.ts";
import { readSettings, type Settings, SettingsError } from "./environment.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { StorageError } from "./store/storage_error.ts";
import { openLog } from "./telemetry/log.ts";

/** Starts the gateway, says where it is, and ends it well when asked to. */
async function main(): Promise<void> {
  const environment = Deno.env.toObject();
  const settings = readSettings(environment);
  const log = openLog({ level: settings.logLevel, format: settings.logFormat });
  const asked = waitForSignal();
  const gateway = await openGateway({ ...settings, log, environment });
  log.flush();
  console.log(await banner(gateway, settings));
  const signal = await asked;
  log.info("stopping", { signal });
  await gateway[Symbol.asyncDispose]();
  log.info("stopped");
  log.flush();
  // The embedded database's worker may still hold a timer; everything that matters is closed.
  Deno.exit(0);
}

/** A terminal sends its signal to the whole group and a wrapper passes it on: the second one is an echo. */
function waitForSignal(): Promise<Deno.Signal> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

async function banner(gateway: Gateway, settings: Settings): Promise<string> {
  const { service, models, withheld } = gateway.keeper.current;
  const key = await demoKey(gateway);
  const lines = [
    "",
    `  ${service.name} listens on ${gateway.address}`,
    "",
    `  declaration  ${settings.configFile} (${gateway.keeper.current.version}), ${models.size} models` +
    (withheld.length === 0 ? "" : `, ${withheld.length} more when their provider has a key`),
    `  database     ${gateway.database.describe}`,
    `  admin token  ${
      settings.adminToken === undefined ? `${settings.dataDir}/admin-token` : "from ADMIN_TOKEN"
    }`,
    `  console      ${gateway.keeper.current.site.url ?? gateway.address}/console`,
    `  API document ${gateway.address}/openapi.json`,
  ];
  if (key !== null) {
    lines.push(
      "",
      `  An account "demo" with 10.00 ${service.currency} of gift credit was made. Its key is shown this once:`,
      "",
      `    ${key}`,
      "",
      "  Try it:",
      "",
      `    curl ${gateway.address}/v1/models -H "Authorization: Bearer ${key}"`,
    );
  } else {
    lines.push("", "  More keys:  deno task gateway key create <account> --name <name>");
  }
  return [...lines, ""].join("\n");
}

/** An empty embedded database is somebody's first start: give them something that works. */
async function demoKey({ database }: Gateway): Promise<string | null> {
  if (database.kind !== "embedded" || await countAccounts(database.sql) > 0) return null;
  const account = await createAccount(database.sql, { name: "demo" });
  await credit(database.sql, {
    account: account.id,
    kind: "gift",
    amount: "10.00",
    reference: "welcome",
  });
  return (await createKey(database.sql, account.id, "first key")).key;
}

/** What went wrong, as the operator should read it; the stack only for what we did not foresee. */
function explain(error: unknown): string {
  if (error instanceof BadDeclaration) {
    const report = renderFaults(error.file, error.source, error.faults, {
      colors: Deno.stderr.isTerminal(),
    });
    return `${report}\n\n${error.message}. Nothing was started.`;
  }
  if (error instanceof SettingsError || error instanceof StorageError) return error.message;
  if (error instanceof Deno.errors.AddrInUse) {
    return "The address is in use: another program listens there. Stop it, or set PORT to a free one.";
  }
  if (
    error instanceof Deno.errors.AddrNotAvailable ||
    (error instanceof Error && /lookup address/.test(error.message))
  ) {
    return `This machine cannot listen at HOST: ${error.message}. Set HOST to an address of its own.`;
  }
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(explain(error));
    Deno.exit(1);
  }
}
