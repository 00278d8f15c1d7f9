import { AUDIT_ACTIONS } from "../../../domain/audit/audit.ts";
import { type AuditEntry, listAudit } from "../../../domain/audit/list_audit.ts";
import type { SiteContext } from "../../context.ts";
import { Empty, Field, FilterSelect } from "../../parts.tsx";
import { Time } from "../../time.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { Head, Pager, sendConsole, TableCard } from "../shell.tsx";
import { ACCOUNTS } from "./accounts.tsx";

export const AUDIT = "/console/operator/audit";
const PAGE = 50;
/** Who acts, where it is no person. */
const ACTORS: Readonly<Record<AuditEntry["actor"]["kind"], string>> = {
  root: "Root token",
  admin_token: "Admin token",
  operator: "Operator",
  member: "Member",
};

/** GET /console/operator/audit: what operators and members did. */
export function auditPage({ database }: ConsoleDeps) {
  return async function auditPage(c: SiteContext): Promise<Response> {
    const { after, account = "", actor = "", action: asked = "" } = c.req.query();
    const action = AUDIT_ACTIONS.find((each) => each === asked);
    const { data, hasMore } = await listAudit(database.sql, {
      limit: PAGE,
      order: "desc",
      after,
      action,
      account: account.trim() || undefined,
      actor: actor.trim() || undefined,
    });
    return sendConsole(
      c,
      { section: "audit", title: "Audit log" },
      <>
        <Head title="Audit log" note="What operators and members did, in all accounts" />
        <form class="filters" method="get" action={AUDIT} role="search">
          <Field name="account" label="Account" value={account} placeholder="acc_…" />
          <Field name="actor" label="Actor" value={actor} placeholder="per_…, adm_… or root" />
          <FilterSelect
            name="action"
            label="Action"
            all="All actions"
            values={AUDIT_ACTIONS}
            value={action}
          />
          <button type="submit" class="button">Filter</button>
        </form>
        {data.length === 0
          ? (
            <section class="card">
              <Empty title="No entries found">
                <p>
                  <a href={AUDIT}>View all</a>
                </p>
              </Empty>
            </section>
          )
          : (
            <TableCard
              columns={["Time", "Actor", "Action", "Account", "Before", "After"]}
              foot={
                <Pager
                  path={AUDIT}
                  query={{ account, actor, action, after }}
                  lastId={data.at(-1)?.id}
                  hasMore={hasMore}
                />
              }
            >
              {data.map((entry) => <EntryRow entry={entry} />)}
            </TableCard>
          )}
      </>,
    );
  };
}

function EntryRow({ entry }: { entry: AuditEntry }) {
  const { actor, account } = entry;
  return (
    <tr>
      <td data-label="Time" class="nowrap">
        <Time at={entry.created} />
      </td>
      <td data-label="Actor">
        <span class="break">
          {actor.name ?? "Deleted person"}
          <span class="small faint block">{ACTORS[actor.kind]}, {entry.via}</span>
        </span>
      </td>
      <td data-label="Action">
        <span class="break">
          {entry.action}
          {entry.subject !== null && entry.subject !== account && (
            <span class="mono faint small block">{entry.subject}</span>
          )}
        </span>
      </td>
      <td data-label="Account">
        {account !== null && (
          <a class="mono small break" href={`${ACCOUNTS}/${account}`}>{account}</a>
        )}
      </td>
      <td data-label="Before">
        <State state={entry.before} />
      </td>
      <td data-label="After">
        <State state={entry.after} />
      </td>
    </tr>
  );
}

function State({ state }: { state: Record<string, unknown> | null }) {
  if (state === null) return <span class="faint">—</span>;
  return (
    <ul class="plain-list small">
      {Object.entries(state).map(([name, value]) => (
        <li class="break">
          {name}: {typeof value === "string" ? value : JSON.stringify(value)}
        </li>
      ))}
    </ul>
  );
}
