import type { ConfigIssue } from "../platform/config/issues.ts";
import type { Reload } from "../platform/config/config_store.ts";
import { renderChanges } from "../platform/config/diff.ts";
import { callAdminApi, CallError } from "./client.ts";
import type { Command } from "./command.ts";

export const reload: Command = {
  usage: "reload [--force]",
  summary: "Reload the configuration file in the running gateway",
  endpoints: ["POST /admin/v1/config/reload"],
  options: {
    force: {
      type: "boolean",
      summary: "Also if a plan or a price book is gone that accounts use",
    },
  },
  async run(terminal, _args, { force }) {
    try {
      const state = await callAdminApi<{ version: string; last_reload: Reload }>(
        terminal,
        "POST",
        force === true ? "/config/reload?force=true" : "/config/reload",
      );
      const { changes } = state.last_reload;
      const summary = changes.length === 0
        ? "No changes."
        : `${changes.length === 1 ? "1 change" : `${changes.length} changes`}:\n${
          renderChanges(changes, terminal)
        }`;
      terminal.print(state, `Configuration ${state.version} is active. ${summary}`);
      return 0;
    } catch (error) {
      const issues = issuesOf(error);
      if (issues === null) throw error;
      const lines = issues.map(({ line, column, path, message, suggestion }) =>
        `${line}:${column} ${path}: ${message}${suggestion === undefined ? "" : `. ${suggestion}`}`
      );
      terminal.print(
        (error as CallError).body,
        `${(error as Error).message}\n\n${lines.join("\n")}`,
      );
      return 1;
    }
  },
};

function issuesOf(error: unknown): ConfigIssue[] | null {
  if (!(error instanceof CallError)) return null;
  const body = error.body as { error?: { detail?: { issues?: ConfigIssue[] } } } | null;
  return body?.error?.detail?.issues ?? null;
}
