import { resolve } from "node:path";
import { renderDraft } from "../domain/catalogue/draft_config.ts";
import { makeStarter, type Starter } from "../domain/catalogue/starter/make_starter.ts";
import { STARTER_PROVIDERS } from "../domain/catalogue/starter/starter_providers.ts";
import { didYouMean } from "../lib/suggest.ts";
import { type Command, optionText, table, type Terminal, UsageError } from "./command.ts";
import { refuseExisting, schemaFor, writeNewFile } from "./new_file.ts";

const NAMES = Object.keys(STARTER_PROVIDERS);

export const init: Command = {
  usage: "init [--providers <names>] [--file <file>] [--force]",
  summary: "Write a small configuration file for chosen providers",
  options: {
    providers: { type: "string", summary: `Separated by commas: ${NAMES.join(", ")}` },
    file: { type: "string", summary: "The file to write (default: gateway.yaml)" },
    force: { type: "boolean", summary: "Replace the file if it exists" },
  },
  async run(terminal, _args, options) {
    const file = optionText(options, "file") ?? terminal.settings.configFile;
    const isForced = options.force === true;
    // Before any question: the answers would be lost.
    if (!isForced) await refuseExisting(file);
    const chosen = optionText(options, "providers") ?? askForProviders(terminal.json);
    const providers = readProviders(chosen);
    const starter = makeStarter(providers);
    await writeNewFile(file, renderStarter(file, starter), isForced);
    const { variables, withoutModels, draft } = starter;
    terminal.print(
      {
        file,
        providers,
        models: draft.models.map(({ id }) => id),
        without_models: withoutModels,
        variables,
      },
      nextSteps(terminal, file, starter),
    );
    return 0;
  },
};

/** Numbers or names, as the list of `askForProviders` has them. */
export function readProviders(text: string): string[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new UsageError(`Name at least one provider: ${NAMES.join(", ")}.`);
  return [...new Set(words.map(readProvider))];
}

function readProvider(word: string): string {
  const name = /^\d+$/.test(word) ? NAMES[Number(word) - 1] : word.replaceAll("-", "_");
  if (name !== undefined && Object.hasOwn(STARTER_PROVIDERS, name)) return name;
  const meant = didYouMean(word, NAMES);
  throw new UsageError(
    `There is no provider ${word}${meant === undefined ? "" : `. ${meant}`}\nKnown providers: ${
      NAMES.join(", ")
    }.`,
  );
}

function askForProviders(isJson: boolean): string {
  if (isJson || !Deno.stdin.isTerminal()) {
    throw new UsageError(`Missing option: --providers <names>. Known: ${NAMES.join(", ")}.`);
  }
  const rows = NAMES.map((name, at) => [
    String(at + 1).padStart(4),
    name,
    STARTER_PROVIDERS[name]!.title,
  ]);
  console.log(`Which providers?\n\n${table(rows)}\n`);
  return prompt("Numbers or names, separated by commas:") ?? "";
}

function renderStarter(file: string, { draft, withoutModels }: Starter): string {
  return renderDraft(draft, {
    schema: schemaFor(file),
    head: [
      "This file configures the gateway. A running gateway reloads it when it is saved.",
      "",
      "  deno task gateway check      show every error with its line",
      "  deno task gateway plan       show what would change",
      "",
      "All settings: docs/operate/configuration.md",
    ],
    remarks: withoutModels.length === 0 ? [] : exampleModel(withoutModels),
  });
}

/** Prices differ by model and change: where none is shipped, the operator knows them. */
function exampleModel(providers: readonly string[]): string[] {
  return [
    `A model of ${providers.join(", ")}: replace the names, and add a price below.`,
    "- id: my-model",
    "  name: My Model",
    "  type: chat",
    "  capabilities: [chat, streaming, tools]",
    "  limits: { context_tokens: 128000, max_output_tokens: 8192 }",
    `  upstreams: [{ provider: ${providers[0]}, model: name-of-the-model }]`,
  ];
}

function nextSteps(terminal: Terminal, file: string, starter: Starter): string {
  const { draft, variables, withoutModels } = starter;
  const models = draft.models.map(({ id }) => id).join(", ");
  return [
    `${file} written: ${Object.keys(draft.providers).join(", ")}; models ${models}.`,
    ...(withoutModels.length === 0 ? [] : [noModelsOf(starter)]),
    "",
    "Next:",
    ...variables.map((name) => `  export ${name}=…${isSet(terminal, name) ? "   # is set" : ""}`),
    ...startOf(terminal, file),
    `  ${exampleRequest(terminal, starter)}`,
    "",
    "The first start creates an account and prints its API key. On an empty Postgres server, create one with",
    "`deno task gateway account create`, `account credit` and `key create`.",
  ].join("\n");
}

function noModelsOf({ withoutModels, isSimulated, draft }: Starter): string {
  return `No model of ${withoutModels.join(", ")} is in it: their prices are not shipped. ` +
    "The file has an example to fill in" +
    (isSimulated ? `; until then the simulator answers as ${draft.models[0]!.id}.` : ".");
}

function startOf({ settings }: Terminal, file: string): string[] {
  const setting = resolve(file) === resolve(settings.configFile) ? "" : `GATEWAY_CONFIG=${file} `;
  return [`  deno task gateway check ${file}`, `  ${setting}npm start`];
}

function exampleRequest({ settings }: Terminal, { draft }: Starter): string {
  const url = `http://127.0.0.1:${settings.port}/v1`;
  const authorization = '-H "Authorization: Bearer $TOLLGATE_API_KEY"';
  const chat = draft.models.find(({ type }) => type === "chat");
  if (chat === undefined) return `curl ${url}/models ${authorization}`;
  const body = JSON.stringify({ model: chat.id, messages: [{ role: "user", content: "Hello" }] });
  return `curl ${url}/chat/completions ${authorization} -H "Content-Type: application/json" -d '${body}'`;
}

function isSet({ environment }: Terminal, name: string): boolean {
  return (environment[name] ?? "") !== "";
}
