import { parseArgs } from "node:util";
import { readSettings, SettingsError } from "../app/environment.ts";
import { InvoiceError } from "../domain/ledger/invoice.ts";
import { StorageError } from "../platform/database/storage_error.ts";
import { VERSION } from "../platform/telemetry/version.ts";
import { accountCreate, accountList, accountShow } from "./account.ts";
import { accountClose, accountResume, accountSuspend, accountUpdate } from "./account_change.ts";
import { auditList } from "./audit.ts";
import { backup, restore } from "./backup.ts";
import { runCheck } from "./check.ts";
import { CallError } from "./client.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { completion } from "./completion.ts";
import { formatHelp, formatOverview, isGroup } from "./help.ts";
import { importLitellmConfig, importNewApiDump } from "./import.ts";
import { init } from "./init.ts";
import { keyCreate, keyList, keyRevoke, keyUpdate } from "./key.ts";
import { margins } from "./margins.ts";
import { accountCorrect, accountCredit, accountPlan, ledgerVerify } from "./money.ts";
import { runMigrate } from "./migrate.ts";
import { move } from "./move.ts";
import { personOperator, personPassword } from "./people.ts";
import { runPlan } from "./plan.ts";
import { providerTest } from "./provider.ts";
import { reconcile } from "./reconcile.ts";
import { reload } from "./reload.ts";
import { pricesExport, pricesImport } from "./prices.ts";
import { requestList, requestShow } from "./request.ts";
import { rollback } from "./rollback.ts";
import { runRoutes } from "./routes.ts";
import { secretsRotate } from "./secrets.ts";
import { storageList, storageSweep } from "./storage.ts";
import { tokenCreate, tokenList, tokenRevoke } from "./token.ts";
import { taskList, taskReplay, taskShow } from "./task.ts";
import { upstreamList } from "./upstream.ts";
import { webhookRedeliver, webhookVerify } from "./webhook.ts";
import { usageReport } from "./usage.ts";

export const COMMANDS: readonly [name: string, command: Command][] = [
  ["init", init],
  ["import litellm", importLitellmConfig],
  ["import new-api", importNewApiDump],
  ["check", runCheck],
  ["plan", runPlan],
  ["routes", runRoutes],
  ["reload", reload],
  ["rollback", rollback],
  ["migrate", runMigrate],
  ["move", move],
  ["backup", backup],
  ["restore", restore],
  ["account create", accountCreate],
  ["account list", accountList],
  ["account show", accountShow],
  ["account credit", accountCredit],
  ["account correct", accountCorrect],
  ["account plan", accountPlan],
  ["account update", accountUpdate],
  ["account suspend", accountSuspend],
  ["account resume", accountResume],
  ["account close", accountClose],
  ["key create", keyCreate],
  ["key list", keyList],
  ["key update", keyUpdate],
  ["key revoke", keyRevoke],
  ["person operator", personOperator],
  ["person password", personPassword],
  ["token create", tokenCreate],
  ["token list", tokenList],
  ["token revoke", tokenRevoke],
  ["usage", usageReport],
  ["audit", auditList],
  ["ledger verify", ledgerVerify],
  ["prices import", pricesImport],
  ["prices export", pricesExport],
  ["provider test", providerTest],
  ["upstream list", upstreamList],
  ["secrets rotate", secretsRotate],
  ["margins", margins],
  ["reconcile", reconcile],
  ["request list", requestList],
  ["request show", requestShow],
  ["storage list", storageList],
  ["storage sweep", storageSweep],
  ["task list", taskList],
  ["task show", taskShow],
  ["task replay", taskReplay],
  ["webhook redeliver", webhookRedeliver],
  ["webhook verify", webhookVerify],
  ["completion", completion(() => COMMANDS)],
];

/** Runs one command and returns the exit code. */
export async function run(
  args: string[],
  environment: Record<string, string | undefined>,
): Promise<number> {
  const json = args.includes("--json");
  if (args[0] === "--version") {
    console.log(`tollgate ${VERSION}, deno ${Deno.version.deno}`);
    return 0;
  }
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
      args: negativesLast(args),
      options: { ...command.options, json: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw withUsage(message, command);
  }
}

/** A negative amount is an argument, not an option: it goes behind `--`. */
function negativesLast(args: string[]): string[] {
  const isNegative = (arg: string) => /^-\d/.test(arg);
  const negatives = args.filter(isNegative);
  if (negatives.length === 0) return args;
  return [...args.filter((arg) => !isNegative(arg)), "--", ...negatives];
}

function withUsage(message: string, command: Command): UsageError {
  return new UsageError(`${message}\nUsage: gateway ${command.usage}`);
}

/** The number of words in a usage text without options: the command and its arguments. */
function countWords(usage: string): number {
  return usage.replace(/\[--[^\]]*\]|--\S+ <[^>]*>/g, "").match(/<[^>]*>|\[[^\]]*\]|\S+/g)
    ?.length ?? 0;
}

/** Help for all commands or for a group of them; anything else is not a command. */
function showOverview(args: string[]): number {
  const words = args.filter((arg) => !arg.startsWith("-") && arg !== "help");
  const [group = ""] = words;
  const isKnown = words.length === 0 || (words.length === 1 && isGroup(COMMANDS, group));
  const text = formatOverview(COMMANDS, isKnown ? group : "");
  if (isKnown && (args.length === 0 || args.includes("--help") || args[0] === "help")) {
    console.log(text);
    return 0;
  }
  const problem = isKnown ? `Which command of ${group}?` : `Unknown command: ${words.join(" ")}`;
  console.error(`${problem}\n\n${text}`);
  return 2;
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
