import { type ConfigIssue, renderIssues } from "../platform/config/issues.ts";
import { describeConfig, type Description } from "../platform/config/describe.ts";
import { type ConfigChange, diffConfigs, renderChanges } from "../platform/config/diff.ts";
import { compileFile } from "./check.ts";
import { callAdminApi } from "./client.ts";
import { type Command, optionText, type Terminal } from "./command.ts";

/** A comparison, and the texts that its issues refer to. */
interface Plan {
  ok: boolean;
  from: string;
  to: string | null;
  changes: ConfigChange[];
  issues: ConfigIssue[];
}

/** As Terraform's `plan -detailed-exitcode`. */
const CHANGES_EXIT_CODE = 2;

export const runPlan: Command = {
  usage: "plan [file] [--against previous|<file>]",
  summary:
    "Compare a configuration file with what is in force, what was before, or another file; exits with 2 on changes",
  endpoints: ["POST /admin/v1/config/plan"],
  options: {
    against: {
      type: "string",
      summary: "`previous`: what was in force before the last change; or a file, without a gateway",
    },
  },
  async run(terminal, [file = terminal.settings.configFile], options) {
    const against = optionText(options, "against");
    const local = await compileFile(terminal, file);
    const plan = against === undefined || against === "previous"
      ? await planByGateway(terminal, local, against ?? "active")
      : await planLocally(terminal, local, against);
    if (plan === null) return 1;
    const report = renderIssues(file, local.source, plan.issues, terminal);
    if (!plan.ok) {
      terminal.print({ ok: false, file, issues: plan.issues }, report);
      return 1;
    }
    const { from, to, changes, issues } = plan;
    const base = against === undefined
      ? "the running gateway"
      : against === "previous"
      ? "the previous configuration"
      : against;
    const summary = changes.length === 0
      ? `No changes: ${file} is the same as ${base} (version ${to}).`
      : `${changes.length} ${
        changes.length === 1 ? "change" : "changes"
      } from ${base} (version ${from}) to ${file} (version ${to})`;
    const parts = [renderChanges(changes, terminal), report, summary];
    terminal.print({ from, to, changes, issues }, parts.filter((part) => part !== "").join("\n\n"));
    return changes.length === 0 ? 0 : CHANGES_EXIT_CODE;
  },
};

/** The gateway compiles the file, so that its environment counts and not the one of this shell. */
async function planByGateway(
  terminal: Terminal,
  { source, files }: Awaited<ReturnType<typeof compileFile>>,
  against: "active" | "previous",
): Promise<Plan> {
  const body = { source, files: Object.fromEntries(files), against };
  return await callAdminApi<Plan>(terminal, "POST", "/config/plan", body);
}

async function planLocally(
  terminal: Terminal,
  local: Awaited<ReturnType<typeof compileFile>>,
  against: string,
): Promise<Plan | null> {
  const base = await compileFile(terminal, against);
  if (base.config === null) {
    terminal.print({ ok: false, file: against, issues: base.issues }, base.report);
    return null;
  }
  const before = asJson(describeConfig(base.config));
  const after = local.config === null ? null : asJson(describeConfig(local.config));
  return {
    ok: after !== null,
    from: before.version,
    to: after?.version ?? null,
    changes: after === null ? [] : diffConfigs(before, after),
    issues: local.issues,
  };
}

/** Compared as JSON, as the gateway compares. */
function asJson(description: Description): Description {
  return JSON.parse(JSON.stringify(description));
}
