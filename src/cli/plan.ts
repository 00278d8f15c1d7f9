import { describeConfig, type Description } from "../platform/config/describe.ts";
import { diffConfigs, renderChanges } from "../platform/config/diff.ts";
import { compileFile } from "./check.ts";
import { callAdminApi } from "./client.ts";
import { type Command, type Terminal, text } from "./command.ts";

export const runPlan: Command = {
  usage: "plan [file] [--against <file>]",
  summary: "Show what a declaration would change in the running gateway, or against another file",
  options: {
    against: { type: "string", summary: "Compare with this file instead of the running gateway" },
  },
  async run(terminal, [file = terminal.settings.configFile], options) {
    const after = await compiled(terminal, file);
    if (after === null) return 1;
    const against = text(options, "against");
    const before = against === undefined
      ? (await callAdminApi<{ config: Description }>(terminal, "GET", "/config")).config
      : await compiled(terminal, against);
    if (before === null) return 1;
    const changes = diffConfigs(before, after);
    const what = against ?? "the running gateway";
    const summary = changes.length === 0
      ? `No change: ${file} is what ${what} has (${after.version}).`
      : `${changes.length} ${
        changes.length === 1 ? "change" : "changes"
      } from ${what} (${before.version}) ` +
        `to ${file} (${after.version})`;
    terminal.print(
      { from: before.version, to: after.version, changes },
      changes.length === 0 ? summary : `${renderChanges(changes, terminal)}\n\n${summary}`,
    );
    return 0;
  },
};

async function compiled(terminal: Terminal, file: string): Promise<Description | null> {
  const { config, issues, report } = await compileFile(terminal, file);
  // What the file would give is compared as JSON, as the running gateway gives it.
  if (config !== null) return JSON.parse(JSON.stringify(describeConfig(config)));
  terminal.print({ ok: false, file, issues }, report);
  return null;
}
