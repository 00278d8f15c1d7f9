import { CatalogueError } from "../domain/catalogue/catalogue.ts";
import { renderDraft } from "../domain/catalogue/draft_config.ts";
import { importLitellm, type ImportOptions } from "../domain/catalogue/import/import_litellm.ts";
import { type Imported, ImportError } from "../domain/catalogue/import/imported.ts";
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
  run: (terminal, args, options) =>
    runImport(
      terminal,
      { path: argument(args, 0, "config.yaml"), options, from: "LiteLLM" },
      importLitellm,
    ),
};

interface ImportRun {
  path: string;
  options: Options;
  /** The other gateway. */
  from: string;
}

/** Reads, converts, checks what comes of it, and shows or writes it. */
async function runImport(
  terminal: Terminal,
  { path, options, from }: ImportRun,
  convert: (file: string, text: string, options: ImportOptions) => Imported,
): Promise<number> {
  const target = optionText(options, "write");
  const isForced = options.force === true;
  if (target !== undefined && !isForced) await refuseExisting(target);
  const imported = await explained(async () =>
    convert(path, await readSource(path), await readOptions(options))
  );
  const file = target ?? terminal.settings.configFile;
  const config = renderDraft(imported.draft, {
    schema: schemaFor(file),
    head: [
      `Made from a configuration of ${from}. A running gateway reloads this file when it is saved.`,
      "All settings: docs/operate/configuration.md",
    ],
  });
  const warnings = checkMade(terminal, { file, config, imported });
  if (target !== undefined) await writeNewFile(target, config, isForced);
  const { taken, changed, leftOut } = imported.notes;
  const variables = imported.variables.map(({ name, purpose }) => ({ name, purpose }));
  const report = renderReport(imported, warnings, target);
  if (target === undefined && !terminal.json) {
    // The configuration alone goes to the standard output, which can be redirected into a file.
    console.log(config);
    console.error(report);
    return 0;
  }
  terminal.print(
    { file: target ?? null, config, taken, changed, left_out: leftOut, variables, warnings },
    report,
  );
  return 0;
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

/** What is wrong with a file is for the operator to read, without a stack. */
async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ImportError) throw new UsageError(error.message);
    if (error instanceof CatalogueError) throw new UsageError(`--prices: ${error.message}`);
    throw error;
  }
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
