import { renderChanges } from "../../../platform/config/diff.ts";
import type { ConfigFault } from "../../../platform/config/faults.ts";
import type { Reload } from "../../../platform/config/config_store.ts";
import type { SiteContext } from "../../context.ts";
import { Badge, Form, Notice } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { ago, formatCount, moment, plural } from "../format.ts";
import { Head, sendConsole, TableCard } from "../shell.tsx";

const PATH = "/console/operator/declaration";
const CAUSES: Readonly<Record<Reload["cause"], string>> = {
  start: "at start",
  file: "because the file changed",
  signal: "on a signal",
  api: "because an operator asked",
};

/** GET /console/operator/declaration: what is in force, and how the last reload went. */
export function configurationPage({ configStore, cluster }: ConsoleDeps) {
  return function declarationPage(c: SiteContext): Response {
    const { current, lastReload: last, lastChange: change } = configStore;
    const nodes = [
      { id: cluster.nodeId, declaration: current.version, note: "this one" },
      ...cluster.peers.map(({ id, configVersion, isAhead }) => ({
        id,
        declaration: configVersion,
        note: configVersion === current.version ? "" : isAhead ? "newer" : "older",
      })),
    ];
    const errors = last.faults.filter(({ severity }) => severity === "error");
    const warnings = last.faults.filter(({ severity }) => severity === "warning");
    return sendConsole(
      c,
      { section: "declaration", title: "Declaration" },
      <>
        <Head
          title="Declaration"
          note={
            <>
              Version <code>{current.version}</code> is in force:{" "}
              {plural(current.models.size, "model")}, {plural(current.providers.size, "provider")},
              {" "}
              {plural(current.plans.size, "plan")}, {plural(current.routes.length, "route")}.
            </>
          }
        >
          <Form c={c} action={`${PATH}/reload`} class="">
            <button type="submit" class="button button-primary">Reload the file</button>
          </Form>
        </Head>
        {last.ok ? null : (
          <Notice kind="bad" role="alert">
            <strong>
              The file has{" "}
              {plural(errors.length, "fault")}: the declaration before it stays in force.
            </strong>
          </Notice>
        )}
        <section class="card stack">
          <div class="row-between">
            <h2 class="card-title">Last reload</h2>
            <span class="small faint">
              <time datetime={last.at} title={moment(last.at)}>{ago(last.at)}</time>,{" "}
              {CAUSES[last.cause]}
            </span>
          </div>
          {errors.length > 0 && <Faults faults={errors} title="Faults" />}
          {last.ok && (
            <p class="soft">
              {last.cause === "start"
                ? "Nothing was in force before."
                : last.changes.length === 0
                ? "The file says what was in force already."
                : `It brought ${plural(last.changes.length, "change")}.`}
            </p>
          )}
        </section>
        {change !== null && (
          <section class="card stack">
            <div class="row-between">
              <h2 class="card-title">What changed last</h2>
              <span class="small faint">
                <time datetime={change.at} title={moment(change.at)}>{ago(change.at)}</time>,{" "}
                {CAUSES[change.cause]}
              </span>
            </div>
            <ul class="changes">
              {change.changes.map((each) => <li class={each.kind}>{renderChanges([each])}</li>)}
            </ul>
          </section>
        )}
        {warnings.length > 0 && (
          <section class="card stack-s">
            <Faults faults={warnings} title={plural(warnings.length, "warning")} />
          </section>
        )}
        {current.withheld.length > 0 && (
          <TableCard title="Models not offered" columns={["Model", "Why"]}>
            {current.withheld.map(({ model, reason }) => (
              <tr>
                <td data-label="Model" class="mono">{model}</td>
                <td data-label="Why">{reason}</td>
              </tr>
            ))}
          </TableCard>
        )}
        <TableCard
          title={nodes.length === 1 ? "1 node" : `${formatCount(nodes.length)} nodes`}
          columns={["Node", "Declaration"]}
        >
          {nodes.map(({ id, declaration, note }) => (
            <tr>
              <td data-label="Node" class="mono break">{id}</td>
              <td data-label="Declaration">
                <span class="row-tight">
                  <code>{declaration}</code>
                  {note !== "" && (
                    <Badge kind={note === "this one" ? undefined : "warn"}>{note}</Badge>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </TableCard>
      </>,
    );
  };
}

/** POST /console/operator/declaration/reload */
export function reloadConfiguration({ configStore }: ConsoleDeps) {
  return async function reloadDeclaration(c: SiteContext): Promise<Response> {
    const { ok, changes, faults } = await configStore.reload("api");
    const errors = faults.filter(({ severity }) => severity === "error").length;
    return seeOtherWith(
      c,
      PATH,
      ok ? "good" : "bad",
      ok
        ? `Reloaded: ${
          changes.length === 0 ? "nothing changed" : plural(changes.length, "change")
        }.`
        : `Not taken: ${plural(errors, "fault")}, listed below.`,
    );
  };
}

function Faults({ faults, title }: { faults: readonly ConfigFault[]; title: string }) {
  return (
    <div class="stack-s">
      <h3>{title}</h3>
      <ul class="fault-list">
        {faults.map(({ line, column, path, message, suggestion, severity }) => (
          <li class={severity}>
            <span>
              <code>{path === "" ? "the file" : path}</code>{" "}
              <span class="faint small">line {line}, column {column}</span>
            </span>
            <span>{message}{suggestion !== undefined && <>. {suggestion}</>}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
