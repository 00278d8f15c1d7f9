/**
 * `deno run -A scripts/connect.ts [--site <url>] [--client <name>] [--no-open] [--timeout <seconds>]`
 *
 * Gets an API key through the browser, as any program on a user's computer can.
 * Only the key is written to stdout, so `export TOLLGATE_API_KEY="$(deno run -A
 * scripts/connect.ts)"` keeps it off the screen; messages go to stderr.
 *
 * `--configure claude-code --configure codex [--model <id>] [--dry-run | --remove]`
 *
 * Writes the key and a model into the settings of these clients instead, or takes them out again.
 */
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ModelAddress } from "../src/site/clients/client.ts";
import { askForKey } from "./connect/ask_for_key.ts";
import { claudeEdit } from "./connect/claude_settings.ts";
import { codexEdits } from "./connect/codex_settings.ts";
import { chooseModel, listModels, readService } from "./connect/gateway_api.ts";
import { lineDiff } from "./connect/line_diff.ts";
import type { SettingsEdit } from "./connect/settings_edit.ts";
import { type Change, makeChange, planApply, planRemove } from "./connect/settings_files.ts";

const print = (text: string) => console.error(text);

/** The clients that can be configured, each with the changes of its files. */
const CLIENTS: Readonly<Record<string, (address: ModelAddress) => SettingsEdit[]>> = {
  "claude-code": (address) => [claudeEdit(folderOf("CLAUDE_CONFIG_DIR", ".claude"), address)],
  codex: (address) => codexEdits(folderOf("CODEX_HOME", ".codex"), address),
};

try {
  const options = readOptions();
  await (options.configure.length === 0 ? printKey(options) : configure(options));
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

type Options = ReturnType<typeof readOptions>;

function readOptions() {
  const { values } = parseArgs({
    options: {
      site: { type: "string", default: "http://127.0.0.1:8787" },
      client: { type: "string" },
      "no-open": { type: "boolean", default: false },
      timeout: { type: "string", default: "300" },
      configure: { type: "string", multiple: true, default: [] },
      model: { type: "string" },
      "dry-run": { type: "boolean", default: false },
      remove: { type: "boolean", default: false },
    },
  });
  const unknown = values.configure.find((name) => !Object.hasOwn(CLIENTS, name));
  if (unknown !== undefined) {
    throw new Error(`--configure ${unknown}: choose one of ${Object.keys(CLIENTS).join(", ")}.`);
  }
  const configure = [...new Set(values.configure)].sort();
  if (configure.length === 0 && (values.remove || values["dry-run"] || values.model)) {
    throw new Error("--model, --dry-run and --remove need --configure.");
  }
  return { ...values, site: values.site.replace(/\/+$/, ""), configure };
}

async function printKey(options: Options): Promise<void> {
  const key = await getKey(options, "connect-example");
  const models = await listModels(`${options.site}/v1`, key);
  print(`The key works: ${models.length} models.`);
  if (Deno.stdout.isTerminal()) print(`\nKeep the key where your program reads it, for example:\n`);
  console.log(Deno.stdout.isTerminal() ? `export TOLLGATE_API_KEY="${key}"` : key);
}

function getKey({ site, client, timeout, ...options }: Options, name: string): Promise<string> {
  return askForKey({
    site,
    client: client ?? name,
    timeoutMs: Number(timeout) * 1000,
    opensBrowser: !options["no-open"],
  });
}

async function configure(options: Options): Promise<void> {
  const { site, remove, model: wanted } = options;
  const isDry = options["dry-run"];
  const reached = await readService(site).catch((error) => {
    // Settings are named after the service, which only the gateway knows.
    const hint = remove
      ? " The files of before are kept beside the settings: *.before-connect"
      : "";
    throw new Error(`${error.message}${hint}`);
  });
  const editsFor = (key: string | null, model: string) =>
    options.configure.flatMap((name) => CLIENTS[name]!({ ...reached, key, model: { id: model } }));
  if (remove) {
    await finish(await planRemove(editsFor(null, "")), isDry);
    print(`The key still works: revoke it at ${site}/console/keys`);
    return;
  }
  if (isDry && wanted === undefined) {
    throw new Error("--dry-run needs --model: models are listed only with an API key.");
  }
  // A file that cannot be changed is found before a key is made for it.
  const planned = await planApply(editsFor(null, wanted ?? ""));
  if (isDry) return await finish(planned, true);
  const key = await getKey(options, keyName(options.configure));
  const model = chooseModel(await listModels(reached.baseUrl, key), wanted);
  await finish(await planApply(editsFor(key, model)), false);
  print(`Connected to ${reached.service} with the model ${model}.`);
}

/** Shows the changes, and makes them unless it is a rehearsal. */
async function finish(changes: readonly Change[], isDry: boolean): Promise<void> {
  for (const change of changes) {
    const lines = lineDiff(change.from ?? "", change.to ?? "");
    print([lines.length === 0 ? `${change.path}: unchanged` : change.path, ...lines.map(maskKeys)]
      .join("\n"));
    if (!isDry) await makeChange(change);
  }
}

/** Keys stay off the screen. */
function maskKeys(line: string): string {
  return line.replace(/((?:AUTH_TOKEN|API_KEY)"?\s*[:=]\s*"?)[^"\s]+/g, "$1…");
}

/** A key of its own for each computer: another authorization by the same name replaces the key. */
function keyName(clients: readonly string[]): string {
  return [...clients, hostname()].join(".").replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 64);
}

function folderOf(variable: string, usual: string): string {
  return Deno.env.get(variable) || join(homedir(), usual);
}
