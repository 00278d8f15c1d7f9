import type { Child } from "hono/jsx";
import { reloadNote, writeAudit } from "../../../domain/audit/audit.ts";
import type { Reload } from "../../../platform/config/config_store.ts";
import { renderChanges } from "../../../platform/config/diff.ts";
import type { ConfigIssue } from "../../../platform/config/issues.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { plural } from "../../format.ts";
import { Badge, Form, Notice } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import { Time } from "../../time.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { Head, sendConsole, TableCard } from "../shell.tsx";

const PATH = "/console/operator/configuration";
const CAUSES: Readonly<Record<Reload["cause"], string>> = {
  start: "at start",
  file: "file changed",
  signal: "by signal",
  api: "by an operator",
};

/** GET /console/operator/configuration: the active version, and how the last reload went. */
export function configurationPage({ configStore, cluster }: ConsoleDeps) {
  return function configurationPage(c: SiteContext): Response {
    const { current, lastReload: last, lastChange: change } = configStore;
    const errors = last.issues.filter(({ severity }) => severity === "error");
    const warnings = last.issues.filter(({ severity }) => severity === "warning");
    return sendConsole(
      c,
      { section: "configuration", title: "Configuration" },
      <>
        <Head
          title="Configuration"
          note={
            <>
              Version <code>{current.version}</code> active: {plural(current.models.size, "model")}
              , {plural(current.providers.size, "provider")}, {plural(current.plans.size, "plan")},
              {" "}
              {plural(current.routes.length, "route")}
            </>
          }
        >
          <Form c={c} action={`${PATH}/reload`} class="">
            <button type="submit" class="button button-primary">Reload file</button>
          </Form>
        </Head>
        {last.ok ? null : (
          <Notice kind="bad" role="alert">
            {plural(errors.length, "error")}. The previous configuration is still active.
          </Notice>
        )}
        <ReloadCard title="Last reload" reload={last}>
          {errors.length > 0 && <Problems problems={errors} title="Errors" />}
          {last.ok && <p class="soft">{reloadResult(last)}</p>}
        </ReloadCard>
        {change !== null && (
          <ReloadCard title="Last change" reload={change}>
            <ul class="changes">
              {change.changes.map((each) => <li class={each.kind}>{renderChanges([each])}</li>)}
            </ul>
          </ReloadCard>
        )}
        {warnings.length > 0 && (
          <section class="card stack-s">
            <Problems problems={warnings} title={plural(warnings.length, "warning")} />
          </section>
        )}
        {current.unavailableModels.length > 0 && (
          <TableCard title="Unavailable models" columns={["Model", "Reason"]}>
            {current.unavailableModels.map(({ model, reason }) => (
              <tr>
                <td data-label="Model" class="mono">{model}</td>
                <td data-label="Reason">{reason}</td>
              </tr>
            ))}
          </TableCard>
        )}
        <NodeTable cluster={cluster} version={current.version} />
      </>,
    );
  };
}

/** POST /console/operator/configuration/reload */
export function reloadConfiguration({ configStore, database }: ConsoleDeps) {
  return async function reloadConfiguration(c: SiteContext): Promise<Response> {
    const before = configStore.current.version;
    const { ok, changes, issues } = await configStore.reload("api");
    const errors = issues.filter(({ severity }) => severity === "error").length;
    const { version } = configStore.current;
    if (ok) await writeAudit(database.sql, operatorOf(c), reloadNote(before, version));
    return seeOtherWith(
      c,
      PATH,
      ok ? "good" : "bad",
      ok
        ? `Configuration reloaded: ${
          changes.length === 0 ? "no changes" : plural(changes.length, "change")
        }.`
        : `Reload failed: ${plural(errors, "error")}, listed below.`,
    );
  };
}

function reloadResult({ cause, changes }: Pick<Reload, "cause" | "changes">): string {
  if (cause === "start") return "Loaded.";
  return changes.length === 0 ? "No changes." : `${plural(changes.length, "change")}.`;
}

function ReloadCard(
  { title, reload: { at, cause }, children }: {
    title: string;
    reload: Pick<Reload, "at" | "cause">;
    children: Child;
  },
) {
  return (
    <section class="card stack">
      <div class="row-between">
        <h2 class="card-title">{title}</h2>
        <span class="small faint">
          <Time at={at} as="relative" />, {CAUSES[cause]}
        </span>
      </div>
      {children}
    </section>
  );
}

function NodeTable(
  { cluster, version }: { cluster: ConsoleDeps["cluster"]; version: string },
) {
  const nodes = [
    { id: cluster.nodeId, version, note: "This node" },
    ...cluster.peers.map(({ id, configVersion, isAhead }) => ({
      id,
      version: configVersion,
      note: configVersion === version ? "" : isAhead ? "Newer" : "Older",
    })),
  ];
  return (
    <TableCard title={plural(nodes.length, "node")} columns={["Node", "Version"]}>
      {nodes.map(({ id, version, note }) => (
        <tr>
          <td data-label="Node" class="mono break">{id}</td>
          <td data-label="Version">
            <span class="row-tight">
              <code>{version}</code>
              {note !== "" && <Badge kind={note === "This node" ? undefined : "warn"}>{note}
              </Badge>}
            </span>
          </td>
        </tr>
      ))}
    </TableCard>
  );
}

function Problems({ problems, title }: { problems: readonly ConfigIssue[]; title: string }) {
  return (
    <div class="stack-s">
      <h3>{title}</h3>
      <ul class="problem-list">
        {problems.map(({ line, column, path, message, suggestion, severity }) => (
          <li class={severity}>
            <span>
              <code>{path === "" ? "gateway.yaml" : path}</code>{" "}
              <span class="faint small">line {line}, column {column}</span>
            </span>
            <span>{message}{suggestion !== undefined && <>. {suggestion}</>}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
