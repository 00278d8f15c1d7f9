import { MODEL_TYPES } from "../../model_types/model_types.ts";
import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import type { Config } from "../../platform/config/config.ts";
import type { SiteContext } from "../context.ts";
import { Badge, Empty, Field, FilterSelect } from "../parts.tsx";
import { readableName } from "../readable_name.ts";
import { pricedAccountOf } from "./account.ts";
import { type Offer, offersFor } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { priceSummary } from "./price_text.ts";
import { Head, sendConsole } from "./shell.tsx";
import { TypeMark } from "./type_mark.tsx";

/** GET /console/models: the models of this account, with its prices. */
export function modelsPage(deps: ConsoleDeps) {
  return async function modelsPage(c: SiteContext): Promise<Response> {
    const { config } = c.env;
    const account = await pricedAccountOf(c, deps);
    const offers = offersFor(config, account);
    const { q = "", type = "", capability = "" } = c.req.query();
    const found = offers.filter(({ details }) =>
      (type === "" || details.type === type) &&
      (capability === "" || details.capabilities.includes(capability)) &&
      matches(details, q)
    );
    const types = MODEL_TYPES.filter((each) => offers.some(({ details }) => details.type === each));
    const capabilities = [...new Set(offers.flatMap(({ details }) => details.capabilities))].sort();
    return sendConsole(
      c,
      { section: "models", title: "Models", scripts: ["search"] },
      <>
        <Head
          title="Models"
          note="Models available to your account, at your prices. Open one to try it."
        />
        <form class="filters" method="get" action="/console/models" data-search="#models">
          <Field name="q" label="Search" type="search" value={q} placeholder="Name or purpose" />
          <FilterSelect
            name="type"
            label="Type"
            all="All types"
            values={types}
            value={type}
          />
          <FilterSelect
            name="capability"
            label="Capability"
            all="Any capability"
            values={capabilities}
            value={capability}
          />
          <button type="submit" class="button">Apply</button>
        </form>
        <div id="models" class="grid model-grid">
          {found.map((offer) => <ModelCard config={config} account={account} offer={offer} />)}
        </div>
        <div class="card" data-search-empty hidden={found.length > 0}>
          <Empty title="No models found">
            <p>
              Try a different search, or <a href="/console/models">view all</a>.
            </p>
          </Empty>
        </div>
      </>,
    );
  };
}

function ModelCard(
  { config, account, offer: { model, details, price } }: {
    config: Config;
    account: PricedAccount;
    offer: Offer;
  },
) {
  return (
    <a
      class="card model-card"
      href={`/console/models/${encodeURIComponent(details.id)}`}
      data-search-text={searchTextOf(details).toLowerCase()}
      data-type={details.type}
      data-capabilities={details.capabilities.join(" ")}
    >
      <div class="model-card-head">
        <TypeMark type={details.type} />
        <div class="model-card-name">
          <h2>{details.name}</h2>
          <span class="mono faint small">{details.id}</span>
        </div>
        {details.status !== "available" && <ModelStatusBadge status={details.status} />}
      </div>
      <p class="soft model-card-text">{details.description}</p>
      <p class="small numeric">
        {price === null
          ? <span class="faint">No price</span>
          : priceSummary(config, account, model, price)}
      </p>
    </a>
  );
}

const STATUS = {
  available: "good",
  preview: "info",
  deprecated: "warn",
  unavailable: "bad",
} as const;

export function ModelStatusBadge({ status }: { status: keyof typeof STATUS }) {
  return <Badge kind={STATUS[status]}>{readableName(status)}</Badge>;
}

function matches(details: Offer["details"], query: string): boolean {
  const text = searchTextOf(details).toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function searchTextOf(details: Offer["details"]): string {
  const { id, name, type, description, advantages, scenarios } = details;
  return [id, name, type, description, ...advantages ?? [], ...scenarios ?? []].join(" ");
}
