import type { Child } from "hono/jsx";
import {
  type LoggedRequest,
  type RequestFilter,
  toStatusFilter,
} from "../../domain/requests/find_requests.ts";
import type { SiteContext } from "../context.ts";
import type { MoneyFormat } from "../format.ts";
import { formatCount } from "../format.ts";
import { Money } from "../money.tsx";
import { Badge, Empty, Field, Select } from "../parts.tsx";
import { readableName } from "../readable_name.ts";
import { Time } from "../time.tsx";
import { readDays } from "./days.ts";
import { Pager, TableCard } from "./shell.tsx";

/** The filters of a page: as they were sent, for its form and links, and as the log takes them. */
export interface RequestPageFilters {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly filter: RequestFilter;
}

/** Fields that are texts. An empty one does not filter. */
const TEXTS = ["id", "model", "key", "endpoint", "account"] as const;

export function readRequestFilters(c: SiteContext): RequestPageFilters {
  const { from, to, span } = readDays(c);
  const texts = Object.fromEntries(
    TEXTS.map((name) => [name, c.req.query(name)?.trim() || undefined]),
  );
  const status = c.req.query("status") ?? "";
  const query = { ...texts, status, from, to };
  return { query, filter: { ...texts, status: toStatusFilter(status), ...span } };
}

const STATUSES = [
  ["", "Any status"],
  ["2xx", "Successful (2xx)"],
  ["4xx", "Refused (4xx)"],
  ["5xx", "Failed (5xx)"],
] as const;

/** The filters that customers and operators share; `children` are those of one of them. */
export function RequestFilters(
  { path, query, children }: {
    path: string;
    query: RequestPageFilters["query"];
    children: Child;
  },
) {
  return (
    <form class="filters" method="get" action={path} role="search">
      <Field
        name="id"
        label="Search"
        type="search"
        value={query.id}
        placeholder="Request or client ID"
      />
      <Select name="status" label="Status" options={STATUSES} value={query.status} />
      <Field name="model" label="Model" value={query.model} autocomplete="off" />
      {children}
      <Field name="from" label="From (UTC)" type="date" value={query.from} />
      <Field name="to" label="Before (UTC)" type="date" value={query.to} />
      <button type="submit" class="button">Apply</button>
    </form>
  );
}

function NoRequests({ path, isFiltered }: { path: string; isFiltered: boolean }) {
  return (
    <section class="card">
      {isFiltered
        ? (
          <Empty title="No matching requests">
            <p>
              <a href={path}>View all</a>
            </p>
          </Empty>
        )
        : (
          <Empty title="No requests yet">
            <p>Every API request is listed here, with its status and duration.</p>
          </Empty>
        )}
    </section>
  );
}

/** A list of requests. `accountOf` adds the column of operators. */
/** One page of a list, with links to the others; without requests, a note that says so. */
export function RequestTable<T extends LoggedRequest>(
  { path, query, page, currency, accountOf }: {
    path: string;
    /** The filters and the place in the list. */
    query: Readonly<Record<string, string | undefined>>;
    page: { readonly data: readonly T[]; readonly hasMore: boolean };
    currency: MoneyFormat;
    accountOf?: (request: T) => Child;
  },
) {
  const { data, hasMore } = page;
  if (data.length === 0) {
    return <NoRequests path={path} isFiltered={Object.values(query).some((each) => each)} />;
  }
  const columns = ["Request", "Endpoint", "Status", "Duration", ["Charged", "right"] as const];
  return (
    <TableCard
      foot={<Pager path={path} query={query} lastId={data.at(-1)?.id} hasMore={hasMore} />}
      columns={accountOf === undefined ? columns : columns.toSpliced(1, 0, "Account")}
    >
      {data.map((request) => (
        <tr>
          <td data-label="Request">
            <span>
              <a class="mono break" href={`${path}/${request.id}`}>{request.id}</a>
              <span class="small faint block">
                <Time at={request.created} as="relative" />
              </span>
            </span>
          </td>
          {accountOf !== undefined && <td data-label="Account">{accountOf(request)}</td>}
          <td data-label="Endpoint">
            <span>
              {endpointName(request)}
              {request.model !== null && <span class="small faint block">{request.model}</span>}
            </span>
          </td>
          <td data-label="Status">
            <RequestStatus request={request} />
          </td>
          <td data-label="Duration" class="numeric">{formatCount(request.duration_ms)} ms</td>
          <td data-label="Charged" class="right">
            <RequestCharge request={request} currency={currency} />
          </td>
        </tr>
      ))}
    </TableCard>
  );
}

export function endpointName({ method, endpoint }: LoggedRequest): string {
  return `${method} ${endpoint === null ? "Unknown endpoint" : readableName(endpoint)}`;
}

export function RequestStatus({ request }: { request: LoggedRequest }) {
  const { status, error_code: code } = request;
  const kind = status >= 500 ? "bad" : status >= 400 || code !== null ? "warn" : "good";
  return (
    <span>
      <Badge kind={kind}>{status}</Badge>
      {code !== null && <code class="small block">{code}</code>}
    </span>
  );
}

export function RequestCharge(
  { request: { charge }, currency }: { request: LoggedRequest; currency: MoneyFormat },
) {
  return charge === null ? <>—</> : <Money amount={charge} currency={currency} />;
}
