import { MODEL_TYPES } from "../../lib/model_types.ts";
import type { SiteContext } from "../context.ts";
import { Badge, Empty, Field, Select } from "../parts.tsx";
import { pricedAccountOf } from "./account.ts";
import { type Offer, offersFor } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { priceShort } from "./price_text.ts";
import { Head, sendConsole } from "./shell.tsx";
import { TypeMark } from "./type_mark.tsx";

/** GET /console/models: what this account can call, and what it costs. */
export function modelsPage(deps: ConsoleDeps) {
  return async function modelsPage(c: SiteContext): Promise<Response> {
    const { config } = c.env;
    const account = await pricedAccountOf(c, deps);
    const offers = offersFor(config, account);
    const { q = "", type = "", capability = "" } = c.req.query();
    const found = offers.filter(({ shown }) =>
      (type === "" || shown.type === type) &&
      (capability === "" || shown.capabilities.includes(capability)) &&
      matches(shown, q)
    );
    const types = MODEL_TYPES.filter((each) => offers.some(({ shown }) => shown.type === each));
    const capabilities = [...new Set(offers.flatMap(({ shown }) => shown.capabilities))].sort();
    return sendConsole(
      c,
      { section: "models", title: "Models", scripts: ["search"] },
      <>
        <Head
          title="Models"
          note="What your account can call, with the prices that apply to it. Open one to try it."
        />
        <form class="filters" method="get" action="/console/models" data-search="#models">
          <Field name="q" label="Search" type="search" value={q} placeholder="Name or purpose" />
          <Select
            name="type"
            label="Type"
            value={type}
            options={[["", "All types"], ...types.map((each) => [each, each] as const)]}
          />
          <Select
            name="capability"
            label="Capability"
            value={capability}
            options={[
              ["", "Any capability"],
              ...capabilities.map((each) => [each, describeLimits(each)] as const),
            ]}
          />
          <button type="submit" class="button">Show</button>
        </form>
        <div id="models" class="grid model-grid">
          {found.map((offer) => <ModelCard offer={offer} currency={config.service.currency} />)}
        </div>
        <div class="card" data-search-empty hidden={found.length > 0}>
          <Empty title="No model fits">
            <p>
              Try fewer words, or <a href="/console/models">see all of them</a>.
            </p>
          </Empty>
        </div>
      </>,
    );
  };
}

function ModelCard({ offer: { shown, price }, currency }: { offer: Offer; currency: string }) {
  return (
    <a
      class="card model-card"
      href={`/console/models/${encodeURIComponent(shown.id)}`}
      data-words={wordsOf(shown).toLowerCase()}
      data-type={shown.type}
      data-capabilities={shown.capabilities.join(" ")}
    >
      <div class="model-card-head">
        <TypeMark type={shown.type} />
        <div class="model-card-name">
          <h2>{shown.name}</h2>
          <span class="mono faint small">{shown.id}</span>
        </div>
        {shown.status !== "available" && <ModelStatusBadge status={shown.status} />}
      </div>
      <p class="soft model-card-text">{shown.description}</p>
      <p class="small numeric">
        {price === null ? <span class="faint">No price</span> : priceShort(price, currency)}
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
  return <Badge kind={STATUS[status]}>{status}</Badge>;
}

function matches(shown: Offer["shown"], query: string): boolean {
  const text = wordsOf(shown).toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function wordsOf(shown: Offer["shown"]): string {
  const { id, name, type, description, advantages, scenarios } = shown;
  return [id, name, type, description, ...advantages ?? [], ...scenarios ?? []].join(" ");
}

/** `text_to_image` as people say it. */
export function describeLimits(name: string): string {
  const text = name.replaceAll("_", " ");
  return text === "json schema" ? "JSON schema" : text;
}
