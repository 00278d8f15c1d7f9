import { trimDecimal } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Receipt } from "../../domain/ledger/receipt.ts";
import { findReceipt } from "../../domain/ledger/statement.ts";
import { priceFrom } from "../../domain/pricing/snapshot.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import { personOf, type SiteContext } from "../context.ts";
import type { ConsoleDeps } from "./deps.ts";
import { formatCount, moment, money } from "./format.ts";
import { describeLimits } from "./models.tsx";
import { priceLines } from "./price_text.ts";
import { ReceiptState } from "./receipt_text.tsx";
import { Head, sendConsole } from "./shell.tsx";

/** GET /console/billing/receipts/{request_id} */
export function receiptPage({ database }: ConsoleDeps) {
  return async function receiptPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const { currency } = c.env.config.service;
    const receipt = await findReceipt(database.sql, personOf(c).account, id, currency);
    if (receipt === null) throw new ApiError("not_found", "There is no receipt with this id.");
    return sendConsole(
      c,
      { section: "billing", title: "Receipt" },
      <>
        <nav class="crumbs" aria-label="You are here">
          <a href="/console/billing">Billing</a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              Receipt <ReceiptState status={receipt.status} />
            </span>
          }
          note={<span class="mono break">{receipt.id}</span>}
        />
        <ReceiptCard receipt={receipt} />
      </>,
    );
  };
}

/** How an amount came about; also on the page of a task. */
export function ReceiptCard({ receipt, title }: { receipt: Receipt; title?: string }) {
  const { currency, usage, price } = receipt;
  const { model, book, effective_at } = price;
  return (
    <section class="card stack">
      {title !== undefined && <h2 class="card-title">{title}</h2>}
      <dl class="facts">
        <dt>Model</dt>
        <dd>
          <a href={`/console/models/${encodeURIComponent(model)}`}>{model}</a>
        </dd>
        <dt>Charged</dt>
        <dd class="strong numeric">{money(receipt.settled, currency)}</dd>
        <dt>Paid from</dt>
        <dd class="numeric">{paidFrom(receipt)}</dd>
        <dt>Held, and given back</dt>
        <dd class="numeric">
          {money(receipt.held, currency)}, {money(receipt.released, currency)} given back
        </dd>
        {!isNone(receipt.shortfall) && (
          <>
            <dt>Not covered by the balance</dt>
            <dd class="numeric">{money(receipt.shortfall, currency)}</dd>
          </>
        )}
        <dt>Used</dt>
        <dd class="numeric">{usage === null ? "not known yet" : <UsageWords usage={usage} />}</dd>
        <dt>Price</dt>
        <dd class="numeric">
          {priceLines(priceFrom(price), currency).map(([name, text]) =>
            name === "Price" ? text : `${name.toLowerCase()} ${text}`
          ).join(", ")}
          <span class="faint">
            , book {book} since {moment(effective_at)}
          </span>
        </dd>
        <dt>Begun</dt>
        <dd>{moment(receipt.created)}</dd>
        <dt>Settled</dt>
        <dd>{receipt.completed === null ? "not yet" : moment(receipt.completed)}</dd>
        {receipt.client_request_id !== null && (
          <>
            <dt>Your own id</dt>
            <dd class="mono">{receipt.client_request_id}</dd>
          </>
        )}
      </dl>
      {usage?.items !== undefined && usage.items.length > 0 && (
        <details class="disclosure">
          <summary>What it is made up of</summary>
          <ul class="plain-list small">
            {usage.items.map(({ stage, shot, model, amount }) => (
              <li class="row-between">
                <span>
                  {stage}
                  {shot !== undefined && `, shot ${shot}`} <span class="faint">{model}</span>
                </span>
                <span class="numeric">{money(amount, currency)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function paidFrom({ from, currency }: Receipt): string {
  const parts = [
    from.quota > 0 ? `${formatCount(from.quota)} of quota` : "",
    isNone(from.gift) ? "" : `${money(from.gift, currency)} of gifts`,
    isNone(from.cash) ? "" : `${money(from.cash, currency)} of cash`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "nothing was taken" : parts.join(", ");
}

function isNone(amount: string): boolean {
  return /^0(\.0*)?$/.test(amount);
}

function UsageWords({ usage }: { usage: Usage }) {
  const { estimated, items: _, ...quantities } = usage;
  const told = Object.entries(quantities)
    .filter(([name, value]) => name !== "calls" && Number(value) > 0)
    .map(([name, value]) => {
      const amount = typeof value === "number" ? formatCount(value) : trimDecimal(value, 0);
      return `${amount} ${
        amount === "1" ? describeLimits(name).replace(/s$/, "") : describeLimits(name)
      }`;
    });
  return (
    <>
      {told.length === 0 ? "1 call" : told.join(", ")}
      {estimated && <span class="faint">, counted by the gateway</span>}
    </>
  );
}
