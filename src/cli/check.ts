import { compileConfig } from "../platform/config/compile.ts";
import { ConfigError, renderIssues } from "../platform/config/issues.ts";
import { readConfigText } from "../platform/config/config_store.ts";
import { withSecretFiles } from "../lib/yaml/secret_files.ts";
import { buildCapabilities } from "../app/build_capabilities.ts";
import type { Command, Terminal } from "./command.ts";

/** Reads and compiles a configuration file as the gateway does at start. */
export async function compileFile(terminal: Terminal, file: string) {
  try {
    return compileText(terminal, file, await readConfigText(file));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { issues } = error;
    const files: ReadonlyMap<string, string> = new Map();
    return {
      config: null,
      issues,
      source: "",
      files,
      report: renderIssues(file, "", issues, terminal),
    };
  }
}

/** Compiles a text as if it were the file. */
export function compileText(terminal: Terminal, file: string, source: string) {
  const { config, issues, files } = compileConfig({
    file,
    source,
    environment: withSecretFiles(terminal.environment),
    capabilities: buildCapabilities(),
    now: Date.now(),
  });
  return { config, issues, source, files, report: renderIssues(file, source, issues, terminal) };
}

export const runCheck: Command = {
  usage: "check [file]",
  summary: "Check a configuration file and show every error and warning with its line",
  async run(terminal, [file = terminal.settings.configFile]) {
    const { config, issues, report } = await compileFile(terminal, file);
    const errors = issues.filter(({ severity }) => severity === "error").length;
    const warnings = issues.length - errors;
    const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
    const summary = config === null
      ? `${count(errors, "error")}, ${count(warnings, "warning")}`
      : `${file} is valid: ${count(config.models.size, "model")}, version ${config.version}` +
        (warnings === 0 ? "" : `, ${count(warnings, "warning")}`) +
        config.unavailableModels.map(({ model, reason }) =>
          `\n  ${model} is unavailable (${reason})`
        ).join(
          "",
        );
    terminal.print(
      { ok: config !== null, file, version: config?.version ?? null, issues },
      [report, summary].filter((part) => part !== "").join("\n\n"),
    );
    return config === null ? 1 : 0;
  },
};
