import type { Child } from "hono/jsx";
import type { LoggedRequest } from "../../domain/requests/find_requests.ts";
import { formatCount, type MoneyFormat } from "../format.ts";
import { readableName } from "../readable_name.ts";
import { Time } from "../time.tsx";
import { OriginFacts } from "./origin_facts.tsx";
import { endpointName, RequestCharge } from "./request_table.tsx";

/** What the log knows of a request; `children` are further rows. */
export function RequestFacts(
  { request, currency, children }: {
    request: LoggedRequest;
    currency: MoneyFormat;
    children?: Child;
  },
) {
  const { usage, client_request_id: clientId } = request;
  return (
    <section class="card stack">
      <h2 class="card-title">Details</h2>
      <dl class="facts facts-tight">
        <dt>Received</dt>
        <dd>
          <Time at={request.created} />
        </dd>
        <dt>Endpoint</dt>
        <dd>{endpointName(request)}</dd>
        {request.model !== null && (
          <>
            <dt>Model</dt>
            <dd>{request.model}</dd>
          </>
        )}
        <dt>Duration</dt>
        <dd class="numeric">{formatCount(request.duration_ms)} ms</dd>
        <dt>First byte after</dt>
        <dd class="numeric">
          {formatCount(request.first_byte_ms)} ms{request.stream && ", streamed"}
        </dd>
        {usage !== null && (
          <>
            <dt>Tokens</dt>
            <dd class="numeric">
              {tokenText(usage)}
            </dd>
          </>
        )}
        <dt>Charged</dt>
        <dd>
          <RequestCharge request={request} currency={currency} />
        </dd>
        {clientId !== null && (
          <>
            <dt>Client request ID</dt>
            <dd class="mono break">{clientId}</dd>
          </>
        )}
        <OriginFacts origin={request} />
        {children}
      </dl>
    </section>
  );
}

function tokenText(usage: NonNullable<LoggedRequest["usage"]>): string {
  const parts = Object.entries(usage).filter(([, count]) => count > 0).map(([name, count]) => {
    const kind = readableName(name.replace(/_tokens$/, "")).toLowerCase();
    return `${formatCount(count)} ${kind}`;
  });
  return parts.length === 0 ? "—" : parts.join(", ");
}
