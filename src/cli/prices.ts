import { CatalogueError } from "../domain/catalogue/catalogue.ts";
import { amountsCsv, listAmounts } from "../domain/catalogue/export_prices.ts";
import {
  type Proposal,
  type ProposedChange,
  proposePrices,
} from "../domain/catalogue/propose_prices.ts";
import { readLitellm } from "../domain/catalogue/read_litellm.ts";
import { readModelsDev } from "../domain/catalogue/read_models_dev.ts";
import { parseDecimal } from "../lib/money.ts";
import { editYaml, YamlEditError } from "../lib/yaml/edit_yaml.ts";
import { loadYaml } from "../lib/yaml/load_yaml.ts";
import { renderFlow } from "../lib/yaml/render_yaml.ts";
import { readConfigText } from "../platform/config/config_store.ts";
import type { GatewayFile } from "../platform/config/gateway_file.ts";
import { compileFile, compileText } from "./check.ts";
import { argument, type Command, type Options, optionText, table, UsageError } from "./command.ts";

const FORMATS = { litellm: readLitellm, "models-dev": readModelsDev };

export const pricesImport: Command = {
  usage:
    "prices import <catalogue> --format <litellm|models-dev> [--markup <factor>] [--book <book>] [--models <ids>] [--write]",
  summary:
    "Propose costs and prices from a public catalogue, and write them into the configuration",
  options: {
    format: {
      type: "string",
      summary: "litellm: model_prices_and_context_window.json; models-dev: api.json",
    },
    markup: { type: "string", summary: "Also set prices: cost times this, such as 1.25" },
    book: { type: "string", summary: "The price book for --markup (default: default)" },
    models: { type: "string", summary: "Only these models, separated by commas" },
    write: { type: "boolean", summary: "Change the configuration file; its comments are kept" },
  },
  async run(terminal, args, options) {
    const catalogue = await readCatalogue(argument(args, 0, "catalogue"), options);
    const file = terminal.settings.configFile;
    const { config, report } = await compileFile(terminal, file);
    if (config === null) throw new UsageError(`${report}\n\n${file} must be valid first.`);
    const text = await readConfigText(file);
    const written = loadYaml(file, text, null).value as GatewayFile;
    const proposal = proposePrices(written, catalogue, {
      ...choiceOf(written, options),
      now: Date.now(),
    });
    const { changes } = proposal;
    const isWritten = options.write === true && changes.length > 0;
    let warnings = "";
    if (changes.length > 0) {
      const edited = edit(text, changes);
      const after = await compileText(terminal, file, edited);
      if (after.config === null) {
        throw new UsageError(`${after.report}\n\nThe proposal is not valid; ${file} is unchanged.`);
      }
      warnings = after.report;
      if (isWritten) await Deno.writeTextFile(file, edited);
    }
    terminal.print(
      { file, written: isWritten, changes: changes.map(withoutEdit), skipped: proposal.skipped },
      [renderProposal(proposal), warnings, summaryOf(file, changes.length, isWritten)]
        .filter((part) => part !== "").join("\n\n"),
    );
    return 0;
  },
};

const withoutEdit = ({ edit: _, ...change }: ProposedChange) => change;

async function readCatalogue(path: string, options: Options) {
  const format = optionText(options, "format");
  if (format === undefined || !Object.hasOwn(FORMATS, format)) {
    throw new UsageError("Missing option: --format litellm or --format models-dev.");
  }
  try {
    return FORMATS[format as keyof typeof FORMATS](await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof CatalogueError) throw new UsageError(`${path}: ${error.message}`);
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`${path} does not exist.`);
    throw error;
  }
}

function choiceOf(file: GatewayFile, options: Options) {
  const book = optionText(options, "book") ?? "default";
  if (!Object.hasOwn(file.prices, book)) {
    throw new UsageError(`There is no price book ${book}: ${Object.keys(file.prices).join(", ")}.`);
  }
  const markup = optionText(options, "markup") ?? null;
  if (markup !== null && (parseDecimal(markup) ?? 0n) <= 0n) {
    throw new UsageError(
      `--markup ${markup} is not a factor: use a decimal above zero, such as 1.25.`,
    );
  }
  const models = optionText(options, "models")?.split(",").map((id) => id.trim());
  const unknown = models?.find((id) => !file.models.some((model) => model.id === id));
  if (unknown !== undefined) throw new UsageError(`There is no model ${unknown}.`);
  return { book, markup, models: models === undefined ? null : new Set(models) };
}

function edit(text: string, changes: readonly ProposedChange[]): string {
  try {
    return editYaml(text, changes.map((change) => change.edit));
  } catch (error) {
    if (!(error instanceof YamlEditError)) throw error;
    throw new UsageError(
      `${error.message}: an anchor or a merge cannot be edited. Write it out first.`,
    );
  }
}

function renderProposal({ changes, skipped }: Proposal): string {
  const rows = changes.map(({ model, upstream, key, before, after }) => [
    model,
    upstream ?? "price",
    key,
    before === null ? "new" : renderFlow(before),
    "→",
    renderFlow(after),
    percentText(before, after),
  ]);
  const left = skipped.map(({ model, upstream, reason }) => [model, upstream ?? "price", reason]);
  return [
    ...(rows.length === 0 ? [] : [table(rows)]),
    ...(left.length === 0 ? [] : [`Left as it is:\n${table(left)}`]),
  ].join("\n\n");
}

function percentText(before: unknown, after: unknown): string {
  if (typeof before !== "string" || typeof after !== "string") return "";
  const [from, to] = [parseDecimal(before), parseDecimal(after)];
  if (from === null || to === null || from === 0n) return "";
  const percent = Math.round(Number((to - from) * 10_000n / from) / 10) / 10;
  return `${percent > 0 ? "+" : ""}${percent} %`;
}

function summaryOf(file: string, changes: number, isWritten: boolean): string {
  if (changes === 0) return `Nothing to change: ${file} agrees with the catalogue.`;
  const count = `${changes} ${changes === 1 ? "change" : "changes"}`;
  return isWritten
    ? `${count} written to ${file}. A running gateway reloads it.`
    : `${count}. Nothing is written without --write.`;
}

export const pricesExport: Command = {
  usage: "prices export [--book <book>]",
  summary: "Print every price in force and every cost of an upstream, as CSV",
  options: { book: { type: "string", summary: "The price book (default: default)" } },
  async run(terminal, _args, options) {
    const { config, report } = await compileFile(terminal, terminal.settings.configFile);
    if (config === null) throw new UsageError(report);
    const name = optionText(options, "book") ?? "default";
    const book = config.books.get(name);
    if (book === undefined) {
      throw new UsageError(
        `There is no price book ${name}: ${[...config.books.keys()].join(", ")}.`,
      );
    }
    const amounts = listAmounts(config, book, Date.now());
    const left = config.unavailableModels.map(({ model }) => model);
    // Not into the CSV, which is often redirected into a file.
    if (left.length > 0 && !terminal.json) {
      console.error(`Without the models that are unavailable here: ${left.join(", ")}.`);
    }
    terminal.print({ book: name, amounts, unavailable_models: left }, amountsCsv(amounts));
    return 0;
  },
};
