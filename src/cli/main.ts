import { parseArgs } from "node:util";
import { readSettings, SettingsError } from "../app/environment.ts";
import { FIXED_ROUTES } from "../http/routes/registry.ts";
import { InvoiceError } from "../domain/ledger/invoice.ts";
import { StorageError } from "../platform/database/storage_error.ts";
import { accountCreate, accountList, accountShow, keyCreate, keyRevoke } from "./account.ts";
import { runCheck } from "./check.ts";
import { CallError } from "./client.ts";
import { type Command, table, type Terminal, UsageError } from "./command.ts";
import { accountCredit, accountPlan, ledgerVerify } from "./money.ts";
import { margins } from "./margins.ts";
import { runMigrate } from "./migrate.ts";
import { personOperator, personPassword } from "./people.ts";
import { runPlan } from "./plan.ts";
import { reconcile } from "./reconcile.ts";
import { reload } from "./reload.ts";
import { pricesExport, pricesImport } from "./prices.ts";
import { requestList, requestShow } from "./request.ts";
import { runRoutes } from "./routes.ts";
import { storageList, storageSweep } from "./storage.ts";
import { taskList, taskReplay, taskShow } from "./task.ts";
import { webhookRedeliver, webhookVerify } from "./webhook.ts";

export const COMMANDS: readonly [name: string, command: Command][] = [
  ["check", runCheck],
  ["plan", runPlan],
  ["routes", runRoutes],
  ["reload", reload],
  ["migrate", runMigrate],
  ["account create", accountCreate],
  ["account list", accountList],
  ["account show", accountShow],
  ["account credit", accountCredit],
  ["account plan", accountPlan],
  ["key create", keyCreate],
  ["key revoke", keyRevoke],
  ["person operator", personOperator],
  ["person password", personPassword],
  ["ledger verify", ledgerVerify],
  ["margins", margins],
  ["reconcile", reconcile],
  ["prices import", pricesImport],
  ["prices export", pricesExport],
  ["request list", requestList],
  ["request show", requestShow],
  ["storage list", storageList],
  ["storage sweep", storageSweep],
  ["task list", taskList],
  ["task show", taskShow],
  ["task replay", taskReplay],
  ["webhook redeliver", webhookRedeliver],
  ["webhook verify", webhookVerify],
];

/** Runs one command and returns the exit code. */
export async function run(
  args: string[],
  environment: Record<string, string | undefined>,
): Promise<number> {
  const json = args.includes("--json");
  try {
    const found = COMMANDS.find(([name]) =>
      args.slice(0, name.split(" ").length).join(" ") === name
    );
    if (found === undefined) return showOverview(args);
    const [name, command] = found;
    const rest = args.slice(name.split(" ").length);
    if (rest.includes("--help")) {
      console.log(formatHelp(command));
      return 0;
    }
    const { values, positionals } = parseCommandLine(command, rest);
    const argumentsMax = countWords(command.usage) - name.split(" ").length;
    if (positionals.length > argumentsMax) {
      throw withUsage(
        `"${
          positionals[argumentsMax]
        }" is one argument too many. Put a value with spaces in quotes.`,
        command,
      );
    }
    const terminal: Terminal = {
      settings: readSettings(environment),
      environment,
      json,
      colors: !json && Deno.stdout.isTerminal() && environment.NO_COLOR === undefined,
      print: (value, text) => console.log(json ? JSON.stringify(value, null, 2) : text),
    };
    return await command.run(terminal, positionals, values).catch((error) => {
      throw error instanceof UsageError ? withUsage(error.message, command) : error;
    });
  } catch (error) {
    return printError(error, json);
  }
}

function parseCommandLine(command: Command, args: string[]) {
  try {
    return parseArgs({
      args,
      options: { ...command.options, json: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw withUsage(message, command);
  }
}

function withUsage(message: string, command: Command): UsageError {
  return new UsageError(`${message}\nUsage: gateway ${command.usage}`);
}

/** The number of words in a usage text without options: the command and its arguments. */
function countWords(usage: string): number {
  return usage.replace(/\[--[^\]]*\]|--\S+ <[^>]*>/g, "").match(/<[^>]*>|\[[^\]]*\]|\S+/g)
    ?.length ?? 0;
}

function showOverview(args: string[]): number {
  const isRequested = args.length === 0 || args[0] === "--help" || args[0] === "help";
  if (!isRequested) {
    console.error(
      `Unknown command: ${args.filter((arg) => !arg.startsWith("-")).join(" ")}\n`,
    );
  }
  const text = [
    "Usage: deno task gateway <command> [--json]",
    "",
    table(COMMANDS.map(([, { usage, summary }]) => [`  ${usage.split(" [")[0]}`, summary])),
    "",
    "Every command accepts --json and --help.",
    "Commands call the gateway at GATEWAY_URL (default: HOST and PORT) with ADMIN_TOKEN (default: DATA_DIR/admin-token).",
  ].join("\n");
  if (isRequested) console.log(text);
  else console.error(text);
  return isRequested ? 0 : 2;
}

function formatHelp(command: Command): string {
  const options = Object.entries(command.options ?? {}).map((
    [name, { summary }],
  ) => [`  --${name}`, summary]);
  return [
    command.summary,
    "",
    `Usage: gateway ${command.usage}`,
    ...(options.length === 0 ? [] : ["", table(options)]),
    ...(command.endpoints === undefined ? [] : [
      "",
      "Calls:",
      table(command.endpoints.map((endpoint) => [`  ${endpoint}`, summaryOf(endpoint)])),
    ]),
  ].join("\n");
}

function summaryOf(endpoint: string): string {
  const found = FIXED_ROUTES.find(({ route, path }) => `${route.method} ${path}` === endpoint);
  return found?.route.summary ?? "";
}

function printError(error: unknown, json: boolean): number {
  const isExpected = [UsageError, InvoiceError, CallError, SettingsError, StorageError].some((
    kind,
  ) => error instanceof kind);
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const body = error instanceof CallError && error.body !== null
      ? error.body
      : { error: { message } };
    console.log(JSON.stringify(body, null, 2));
  } else console.error(isExpected ? message : error);
  return error instanceof UsageError || error instanceof InvoiceError ? 2 : 1;
}

if (import.meta.main) Deno.exit(await run(Deno.args, Deno.env.toObject()));
