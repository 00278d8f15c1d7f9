import { ApiError } from "../../lib/api_error.ts";
import { type ApiKey, listKeys } from "../../domain/accounts/api_keys.ts";
import type { Receipt } from "../../domain/ledger/receipt.ts";
import { findReceipt } from "../../domain/ledger/statement.ts";
import { priceFrom } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageItem } from "../../model_types/usage.ts";
import { personOf, type SiteContext } from "../context.ts";
import { formatMoney, isZero, type MoneyFormat } from "../format.ts";
import { Money } from "../money.tsx";
import { Time } from "../time.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { requestKeyText } from "./key_text.ts";
import { OriginFacts } from "./origin_facts.tsx";
import { priceLines } from "./price_text.ts";
import { quotaText, ReceiptStatus } from "./receipt_status.tsx";
import { quantityTexts } from "./quantity_texts.ts";
import { Head, sendConsole } from "./shell.tsx";

/** GET /console/billing/receipts/{request_id} */
export function receiptPage({ database }: ConsoleDeps) {
  return async function receiptPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const { service } = c.env.config;
    const { account } = personOf(c);
    const [receipt, keys] = await Promise.all([
      findReceipt(database.sql, account, id, service.currency),
      listKeys(database.sql, account),
    ]);
    if (receipt === null) throw new ApiError("not_found", "There is no receipt with this ID.");
    return sendConsole(
      c,
      { section: "billing", title: "Receipt" },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href="/console/billing">Billing</a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              Receipt <ReceiptStatus status={receipt.status} />
            </span>
          }
          note={<span class="mono break">{receipt.id}</span>}
        />
        <ReceiptCard receipt={receipt} currency={service} keys={keys} />
      </>,
    );
  };
}

/** How an amount came about; also on the page of a task. */
export function ReceiptCard(
  { receipt, currency, keys, title }: {
    receipt: Receipt;
    currency: MoneyFormat;
    /** Those of the account. */
    keys: readonly ApiKey[];
    title?: string;
  },
) {
  const { usage, price } = receipt;
  const isRunning = receipt.status === "open";
  return (
    <section class="card stack">
      {title !== undefined && <h2 class="card-title">{title}</h2>}
      <dl class="facts">
        <dt>Model</dt>
        <dd>
          <a href={`/console/models/${encodeURIComponent(price.model)}`}>{price.model}</a>
        </dd>
        <dt>Charged</dt>
        <dd class="strong">
          {isRunning ? "—" : <Money amount={receipt.settled} currency={currency} />}
        </dd>
        <dt>Paid from</dt>
        <dd class="numeric">{paidFrom(receipt, currency)}</dd>
        <dt>Held / Returned</dt>
        <dd>
          <Money amount={receipt.held} currency={currency} /> /{" "}
          {isRunning ? "—" : <Money amount={receipt.released} currency={currency} />}
        </dd>
        {!isZero(receipt.shortfall) && (
          <>
            <dt>Not covered by balance</dt>
            <dd>
              <Money amount={receipt.shortfall} currency={currency} />
            </dd>
          </>
        )}
        <dt>Usage</dt>
        <dd class="numeric">{usage === null ? "—" : <UsageText usage={usage} />}</dd>
        <dt>Price</dt>
        <dd class="numeric">
          <PriceText receipt={receipt} currency={currency.currency} />
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={receipt.created} />
        </dd>
        <dt>Settled</dt>
        <dd>{receipt.completed === null ? "—" : <Time at={receipt.completed} />}</dd>
        <dt>API key</dt>
        <dd>{requestKeyText(keys, receipt.key)}</dd>
        {receipt.client_request_id !== null && (
          <>
            <dt>Client request ID</dt>
            <dd class="mono">{receipt.client_request_id}</dd>
          </>
        )}
        <OriginFacts origin={receipt} />
      </dl>
      {usage?.items !== undefined && usage.items.length > 0 && (
        <CostBreakdown items={usage.items} currency={currency} />
      )}
    </section>
  );
}

function PriceText({ receipt, currency }: { receipt: Receipt; currency: string }) {
  const { price, usage } = receipt;
  const lines = priceLines(priceFrom(price), currency).map(([name, text]) =>
    name === "Price" ? text : `${name}: ${text}`
  );
  return (
    <>
      {lines.join(", ")}
      {usage?.items !== undefined && ", plus models used"}
      <span class="faint small block">
        Price list: {price.book}, effective <Time at={price.effective_at} as="date" />
      </span>
    </>
  );
}

function CostBreakdown(
  { items, currency }: { items: readonly UsageItem[]; currency: MoneyFormat },
) {
  return (
    <details class="disclosure">
      <summary>Cost breakdown</summary>
      <ul class="plain-list small">
        {items.map(({ stage, shot, model, amount }) => (
          <li class="row-between">
            <span>
              <span class="stage-name">{stage}</span>
              {shot !== undefined && `, shot ${shot}`} <span class="faint">{model}</span>
            </span>
            <Money amount={amount} currency={currency} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function paidFrom(receipt: Receipt, currency: MoneyFormat): string {
  const { from } = receipt;
  const parts = [
    from.quota > 0 ? quotaText(receipt) : "",
    isZero(from.gift) ? "" : `${formatMoney(from.gift, currency)} credit`,
    isZero(from.cash) ? "" : `${formatMoney(from.cash, currency)} cash`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "—" : parts.join(", ");
}

function UsageText({ usage }: { usage: Usage }) {
  const { estimated, items: _, calls: __, options = {}, service_tier, ...quantities } = usage;
  const parts = quantityTexts(quantities);
  const details = Object.values(options).map(String);
  if (service_tier !== undefined) details.push(`${service_tier} tier`);
  return (
    <>
      {parts.length === 0 ? "1 request" : parts.join(", ")}
      {details.length > 0 && <span class="faint">({details.join(", ")})</span>}
      {estimated && <span class="faint">(estimated)</span>}
    </>
  );
}
