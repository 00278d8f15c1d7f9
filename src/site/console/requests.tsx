import { type ApiKey, listKeys } from "../../domain/accounts/api_keys.ts";
import { findReceipt } from "../../domain/ledger/statement.ts";
import { findRequest, listRequests } from "../../domain/requests/find_requests.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Select } from "../parts.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { keyText, requestKeyText } from "./key_text.ts";
import { BodyCards } from "./logged_bodies.tsx";
import { RequestFacts } from "./request_facts.tsx";
import {
  readRequestFilters,
  RequestFilters,
  RequestStatus,
  RequestTable,
} from "./request_table.tsx";
import { Head, sendConsole } from "./shell.tsx";

export const REQUESTS_PATH = "/console/requests";
const PAGE = 25;

/** GET /console/requests */
export function requestsPage({ database, requestLog }: ConsoleDeps) {
  return async function requestsPage(c: SiteContext): Promise<Response> {
    const { account } = personOf(c);
    const { service } = c.env.config;
    const { query, filter } = readRequestFilters(c);
    const { after } = c.req.query();
    const wanted = { ...filter, account, after, limit: PAGE, order: "desc" } as const;
    await requestLog.flush();
    const [keys, page] = await Promise.all([
      listKeys(database.sql, account),
      listRequests(database.sql, wanted, service.currency),
    ]);
    return sendConsole(
      c,
      { section: "requests", title: "Requests" },
      <>
        <Head title="Requests" note="All API requests, including refused ones." />
        <RequestFilters path={REQUESTS_PATH} query={query}>
          <Select name="key" label="API key" options={keyOptions(keys)} value={query.key} />
        </RequestFilters>
        <RequestTable
          path={REQUESTS_PATH}
          query={{ ...query, after }}
          page={page}
          currency={service}
        />
      </>,
    );
  };
}

function keyOptions(keys: readonly ApiKey[]): [id: string, text: string][] {
  return [["", "All keys"], ...keys.map((key): [string, string] => [key.id, keyText(key)])];
}

/** GET /console/requests/{id} */
export function requestPage({ database, requestLog, bodyLog }: ConsoleDeps) {
  return async function requestPage(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { account } = personOf(c);
    const { service } = c.env.config;
    await requestLog.flush();
    const request = await findRequest(sql, account, c.req.param("id") ?? "", service.currency);
    const [keys, receipt, bodies] = await Promise.all([
      listKeys(sql, account),
      findReceipt(sql, account, request.id, service.currency),
      bodyLog.find(request.id),
    ]);
    return sendConsole(
      c,
      { section: "requests", title: "Request" },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={REQUESTS_PATH}>Requests</a>
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
          <dt>API key</dt>
          <dd>{requestKeyText(keys, request.key)}</dd>
          {receipt !== null && (
            <>
              <dt>Receipt</dt>
              <dd>
                <a href={`/console/billing/receipts/${request.id}`}>View receipt</a>
              </dd>
            </>
          )}
          {request.task !== null && (
            <>
              <dt>Task</dt>
              <dd>
                <a class="mono break" href={`/console/tasks/${request.task}`}>{request.task}</a>
              </dd>
            </>
          )}
        </RequestFacts>
        <BodyCards bodies={bodies} />
      </>,
    );
  };
}
