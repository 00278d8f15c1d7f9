import { CatalogueError } from "../domain/catalogue/catalogue.ts";
import { renderDraft } from "../domain/catalogue/draft_config.ts";
import { importLitellm } from "../domain/catalogue/import/import_litellm.ts";
import { importNewApi } from "../domain/catalogue/import/import_new_api.ts";
import { accountCommands } from "../domain/catalogue/import/new_api_accounts.ts";
import {
  type Imported,
  ImportError,
  type ImportOptions,
} from "../domain/catalogue/import/imported.ts";
import { PriceList } from "../domain/catalogue/import/price_list.ts";
import { parseDecimal } from "../lib/money.ts";
import { compileText } from "./check.ts";
import {
  argument,
  type Command,
  type Options,
  optionText,
  type Terminal,
  UsageError,
} from "./command.ts";
import { renderReport } from "./import_report.ts";
import { refuseExisting, schemaFor, writeNewFile } from "./new_file.ts";

const MIB = 1024 * 1024;
/** A file above it is no configuration, and would be held in memory several times. */
const SOURCE_BYTES_MAX = 64 * MIB;

const OPTIONS: Command["options"] = {
  prices: {
    type: "string",
    summary: "LiteLLM's model_prices_and_context_window.json, for models without a price",
  },
  markup: { type: "string", summary: "Prices are costs times this, such as 1.25 (default: 1)" },
  write: { type: "string", summary: "Write the configuration to this file" },
  force: { type: "boolean", summary: "Replace the file of --write if it exists" },
};

export const importLitellmConfig: Command = {
  usage:
    "import litellm <config.yaml> [--prices <list>] [--markup <factor>] [--write <file>] [--force]",
  summary: "Make a configuration from one of LiteLLM's proxy, and report what is different",
  options: OPTIONS,
  async run(terminal, args, options) {
    const path = argument(args, 0, "config.yaml");
    const imported = await convert(path, options, importLitellm);
    return await showImported(terminal, { imported, from: "LiteLLM", options });
  },
};

export const importNewApiDump: Command = {
  usage:
    "import new-api <dump.json> [--accounts] [--prices <list>] [--markup <factor>] [--write <file>] [--force]",
  summary: "Make a configuration from tables of new-api, and commands for its accounts",
  options: {
    accounts: {
      type: "boolean",
      summary: "Print a shell script that creates accounts, balances and API keys",
    },
    ...OPTIONS,
  },
  async run(terminal, args, options) {
    const path = argument(args, 0, "dump.json");
    const imported = await convert(path, options, importNewApi);
    const { accounts } = imported;
    if (options.accounts === true && accounts.length === 0) {
      throw new UsageError(`${path} has no users.`);
    }
    return await showImported(terminal, {
      imported,
      from: "new-api",
      options,
      ...(options.accounts === true ? { commands: accountCommands(accounts) } : {}),
    });
  },
};

interface ShownImport {
  imported: Imported;
  options: Options;
  /** The other gateway. */
  from: string;
  /** Shown instead of the configuration. */
  commands?: string;
}

/** Checks what came of a file, and shows or writes it. */
async function showImported(
  terminal: Terminal,
  { imported, options, from, commands }: ShownImport,
): Promise<number> {
  const target = optionText(options, "write");
  const file = target ?? terminal.settings.configFile;
  const config = renderDraft(imported.draft, {
    schema: schemaFor(file),
    head: [
      `Made from a configuration of ${from}. A running gateway reloads this file when it is saved.`,
      "All settings: docs/operate/configuration.md",
    ],
  });
  const warnings = checkMade(terminal, { file, config, imported });
  if (target !== undefined) await writeNewFile(target, config, options.force === true);
  const { taken, changed, leftOut } = imported.notes;
  const variables = imported.variables.map(({ name, purpose }) => ({ name, purpose }));
  const report = renderReport(imported, warnings, target);
  const made = commands ?? (target === undefined ? config : undefined);
  if (made !== undefined && !terminal.json) {
    // What can be redirected into a file goes to the standard output alone.
    console.log(made);
    console.error(report);
    return 0;
  }
  terminal.print(
    {
      file: target ?? null,
      config,
      commands,
      taken,
      changed,
      left_out: leftOut,
      variables,
      warnings,
    },
    report,
  );
  return 0;
}

/** Reads a file of another gateway. What is wrong with it is for the operator to read, without a stack. */
async function convert<T>(
  path: string,
  options: Options,
  read: (file: string, text: string, options: ImportOptions) => T,
): Promise<T> {
  const target = optionText(options, "write");
  if (target !== undefined && options.force !== true) await refuseExisting(target);
  try {
    return read(path, await readSource(path), await readOptions(options));
  } catch (error) {
    if (error instanceof ImportError) throw new UsageError(error.message);
    if (error instanceof CatalogueError) throw new UsageError(`--prices: ${error.message}`);
    throw error;
  }
}

async function readOptions(options: Options): Promise<ImportOptions> {
  const markup = optionText(options, "markup") ?? "1";
  if ((parseDecimal(markup) ?? 0n) <= 0n) {
    throw new UsageError(
      `--markup ${markup} is not a factor: use a decimal above zero, such as 1.25.`,
    );
  }
  const list = optionText(options, "prices");
  const priceList = list === undefined ? null : new PriceList(await readSource(list));
  return { markup, priceList, now: Date.now() };
}

async function readSource(path: string): Promise<string> {
  const { size, isDirectory } = await Deno.stat(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`${path} does not exist.`);
    throw error;
  });
  if (isDirectory) throw new UsageError(`${path} is a folder.`);
  if (size > SOURCE_BYTES_MAX) {
    throw new UsageError(`${path} is larger than ${SOURCE_BYTES_MAX / MIB} MiB.`);
  }
  return await Deno.readTextFile(path);
}

/** The warnings of `check`, as if every variable were set. */
function checkMade(
  terminal: Terminal,
  { file, config, imported }: { file: string; config: string; imported: Imported },
): string[] {
  const placeholders = Object.fromEntries(
    imported.variables.map(({ name, placeholder }) => [name, placeholder]),
  );
  const environment = { ...terminal.environment, ...placeholders };
  const checked = compileText({ ...terminal, environment }, file, config);
  if (checked.config === null) {
    throw new UsageError(
      `${checked.report}\n\nThe import made a configuration that is not valid. Nothing is written.`,
    );
  }
  return checked.issues.map(({ path, message }) => `${path}: ${message}`);
}
