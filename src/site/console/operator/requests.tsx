import {
  listRequestsForOperator,
  type OperatorRequest,
} from "../../../domain/requests/find_requests.ts";
import { findRequestWithAttempts } from "../../../workflows/tasks/task_attempts.ts";
import type { SiteContext } from "../../context.ts";
import { formatCount } from "../../format.ts";
import { Badge, Field } from "../../parts.tsx";
import { readableName } from "../../readable_name.ts";
import type { ConsoleDeps } from "../deps.ts";
import { BodyCards } from "../logged_bodies.tsx";
import { RequestFacts } from "../request_facts.tsx";
import {
  readRequestFilters,
  RequestFilters,
  RequestStatus,
  RequestTable,
} from "../request_table.tsx";
import { Head, sendConsole, TableCard } from "../shell.tsx";
import { ACCOUNTS } from "./accounts.tsx";

export const OPERATOR_REQUESTS = "/console/operator/requests";
const PAGE = 25;

/** GET /console/operator/requests: requests of all accounts. */
export function operatorRequestsPage({ database, requestLog }: ConsoleDeps) {
  return async function operatorRequestsPage(c: SiteContext): Promise<Response> {
    const { service } = c.env.config;
    const { query, filter } = readRequestFilters(c);
    const { after } = c.req.query();
    const wanted = { ...filter, after, limit: PAGE, order: "desc" } as const;
    await requestLog.flush();
    const page = await listRequestsForOperator(database.sql, wanted, service.currency);
    return sendConsole(
      c,
      { section: "operator_requests", title: "Requests of all accounts" },
      <>
        <Head title="Requests" note="API requests of all accounts" />
        <RequestFilters path={OPERATOR_REQUESTS} query={query}>
          <Field name="account" label="Account ID" value={query.account} autocomplete="off" />
          <Field name="key" label="API key ID" value={query.key} autocomplete="off" />
        </RequestFilters>
        <RequestTable
          path={OPERATOR_REQUESTS}
          query={{ ...query, after }}
          page={page}
          currency={service}
          accountOf={AccountLink}
        />
      </>,
    );
  };
}

/** GET /console/operator/requests/{id} */
export function operatorRequestPage({ database, requestLog, bodyLog }: ConsoleDeps) {
  return async function operatorRequestPage(c: SiteContext): Promise<Response> {
    const { service } = c.env.config;
    await requestLog.flush();
    const id = c.req.param("id") ?? "";
    const request = await findRequestWithAttempts(database.sql, id, service.currency);
    const bodies = await bodyLog.find(request.id);
    return sendConsole(
      c,
      { section: "operator_requests", title: "Request" },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={OPERATOR_REQUESTS}>Requests</a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              Request <RequestStatus request={request} />
            </span>
          }
          note={<span class="mono break">{request.id}</span>}
        />
        <RequestFacts request={request} currency={service}>
          <dt>Account</dt>
          <dd>
            <AccountLink account={request.account} />
          </dd>
          <dt>API key</dt>
          <dd class="mono break">{request.key ?? "Console"}</dd>
          {request.task !== null && (
            <>
              <dt>Task</dt>
              <dd class="mono break">{request.task}</dd>
            </>
          )}
        </RequestFacts>
        {request.attempts.length > 0 && <Attempts attempts={request.attempts} />}
        <BodyCards bodies={bodies} />
      </>,
    );
  };
}

function AccountLink({ account }: Pick<OperatorRequest, "account">) {
  return <a class="mono small break" href={`${ACCOUNTS}/${account}`}>{account}</a>;
}

function badgeOf(outcome: string): "good" | "bad" | "info" {
  if (outcome === "ok") return "good";
  return outcome === "running" || outcome === "submitting" ? "info" : "bad";
}

function Attempts({ attempts }: Pick<OperatorRequest, "attempts">) {
  return (
    <TableCard title="Attempts" columns={["Upstream", "Outcome", "Duration"]}>
      {attempts.map(({ provider, model, outcome, duration_ms }) => (
        <tr>
          <td data-label="Upstream" class="break">{provider}/{model}</td>
          <td data-label="Outcome">
            <Badge kind={badgeOf(outcome)}>{readableName(outcome)}</Badge>
          </td>
          <td data-label="Duration" class="numeric">{formatCount(duration_ms)} ms</td>
        </tr>
      ))}
    </TableCard>
  );
}
