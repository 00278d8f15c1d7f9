import { compile } from "../platform/config/compile.ts";
import { BadDeclaration, renderFaults } from "../platform/config/faults.ts";
import { readDeclaration } from "../platform/config/config_store.ts";
import type { Fault } from "../platform/config/faults.ts";
import type { Plan } from "../platform/config/config.ts";
import { KNOWN } from "../app/build_capabilities.ts";
import type { Command, Terminal } from "./command.ts";

/** Reads and compiles a declaration as the gateway would. */
export async function compileFile(terminal: Terminal, file: string) {
  let source = "";
  let plan: Plan | null = null;
  let faults: Fault[];
  try {
    source = await readDeclaration(file);
    const { environment } = terminal;
    ({ plan, faults } = compile({ file, source, environment, known: KNOWN, now: Date.now() }));
  } catch (error) {
    if (!(error instanceof BadDeclaration)) throw error;
    faults = error.faults;
  }
  return { plan, faults, report: renderFaults(file, source, faults, terminal) };
}

export const check: Command = {
  usage: "check [file]",
  summary: "Report every fault of a declaration, with its line",
  async run(terminal, [file = terminal.settings.configFile]) {
    const { plan, faults, report } = await compileFile(terminal, file);
    const errors = faults.filter(({ severity }) => severity === "error").length;
    const warnings = faults.length - errors;
    const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
    const verdict = plan === null
      ? `${count(errors, "error")}, ${count(warnings, "warning")}`
      : `${file} is good: ${count(plan.models.size, "model")}, version ${plan.version}` +
        (warnings === 0 ? "" : `, ${count(warnings, "warning")}`) +
        plan.withheld.map(({ model, reason }) => `\n  ${model} is not offered (${reason})`).join(
          "",
        );
    terminal.print(
      { ok: plan !== null, file, version: plan?.version ?? null, faults },
      [report, verdict].filter((part) => part !== "").join("\n\n"),
    );
    return plan === null ? 1 : 0;
  },
};
