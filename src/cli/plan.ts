import { describeConfig, type Description } from "../platform/config/describe.ts";
import { diffConfigs, renderChanges } from "../platform/config/diff.ts";
import { compileFile } from "./check.ts";
import { callAdminApi } from "./client.ts";
import { type Command, optionText, type Terminal } from "./command.ts";

export const runPlan: Command = {
  usage: "plan [file] [--against <file>]",
  summary: "Compare a configuration file with the running gateway or with another file",
  endpoints: ["GET /admin/v1/config"],
  options: {
    against: { type: "string", summary: "Compare with this file instead of the running gateway" },
  },
  async run(terminal, [file = terminal.settings.configFile], options) {
    const after = await compiled(terminal, file);
    if (after === null) return 1;
    const against = optionText(options, "against");
    const before = against === undefined
      ? (await callAdminApi<{ config: Description }>(terminal, "GET", "/config")).config
      : await compiled(terminal, against);
    if (before === null) return 1;
    const changes = diffConfigs(before, after);
    const base = against ?? "the running gateway";
    const summary = changes.length === 0
      ? `No changes: ${file} is the same as ${base} (version ${after.version}).`
      : `${changes.length} ${
        changes.length === 1 ? "change" : "changes"
      } from ${base} (version ${before.version}) ` +
        `to ${file} (version ${after.version})`;
    terminal.print(
      { from: before.version, to: after.version, changes },
      changes.length === 0 ? summary : `${renderChanges(changes, terminal)}\n\n${summary}`,
    );
    return 0;
  },
};

async function compiled(terminal: Terminal, file: string): Promise<Description | null> {
  const { config, issues, report } = await compileFile(terminal, file);
  // Compared as JSON, because the admin API returns JSON.
  if (config !== null) return JSON.parse(JSON.stringify(describeConfig(config)));
  terminal.print({ ok: false, file, issues }, report);
  return null;
}
