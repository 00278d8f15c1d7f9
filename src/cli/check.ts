import { compileConfig } from "../platform/config/compile.ts";
import { ConfigError, renderFaults } from "../platform/config/faults.ts";
import { readConfigText } from "../platform/config/config_store.ts";
import type { ConfigFault } from "../platform/config/faults.ts";
import type { Config } from "../platform/config/config.ts";
import { buildCapabilities } from "../app/build_capabilities.ts";
import type { Command, Terminal } from "./command.ts";

/** Reads and compiles a declaration as the gateway would. */
export async function compileFile(terminal: Terminal, file: string) {
  let source = "";
  let config: Config | null = null;
  let faults: ConfigFault[];
  try {
    source = await readConfigText(file);
    const { environment } = terminal;
    ({ config, faults } = compileConfig({
      file,
      source,
      environment,
      known: buildCapabilities(),
      now: Date.now(),
    }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults = error.faults;
  }
  return { config, faults, report: renderFaults(file, source, faults, terminal) };
}

export const runCheck: Command = {
  usage: "check [file]",
  summary: "Report every fault of a declaration, with its line",
  async run(terminal, [file = terminal.settings.configFile]) {
    const { config, faults, report } = await compileFile(terminal, file);
    const errors = faults.filter(({ severity }) => severity === "error").length;
    const warnings = faults.length - errors;
    const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
    const verdict = config === null
      ? `${count(errors, "error")}, ${count(warnings, "warning")}`
      : `${file} is good: ${count(config.models.size, "model")}, version ${config.version}` +
        (warnings === 0 ? "" : `, ${count(warnings, "warning")}`) +
        config.withheld.map(({ model, reason }) => `\n  ${model} is not offered (${reason})`).join(
          "",
        );
    terminal.print(
      { ok: config !== null, file, version: config?.version ?? null, faults },
      [report, verdict].filter((part) => part !== "").join("\n\n"),
    );
    return config === null ? 1 : 0;
  },
};
