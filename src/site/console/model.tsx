import { readStash } from "../../domain/accounts/session_stash.ts";
import { announcedPrices, type PricedAccount } from "../../domain/pricing/find_price.ts";
import { baseUrlOf } from "../base_url.ts";
import { keyVariable } from "../clients/client.ts";
import { ConnectPanel } from "../clients/connect_panel.tsx";
import { connectionTo } from "../clients/connection.ts";
import type { SiteContext } from "../context.ts";
import { formatCount } from "../format.ts";
import { Badge, Notice } from "../parts.tsx";
import { sessionSecretOf } from "../visitor.ts";
import { pricedAccountOf } from "./account.ts";
import { type Offer, offerOf, routeOf } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { readableName } from "../readable_name.ts";
import { ModelStatusBadge } from "./models.tsx";
import { Playground, type PlaygroundProps } from "./playground/playground.tsx";
import type { Fields } from "./playground/fields.ts";
import { priceLines, stagePriceLines } from "./price_text.ts";
import { Head, sendConsole } from "./shell.tsx";
import { Time } from "../time.tsx";
import { TypeMark } from "./type_mark.tsx";

/** GET /console/models/{id}; `?conversation=` is a ticket of a chat without scripts. */
export function modelPage(deps: ConsoleDeps) {
  return async function modelPage(c: SiteContext): Promise<Response> {
    const account = await pricedAccountOf(c, deps);
    const offer = offerOf(c.env.config, account, c.req.param("id") ?? "");
    const ticket = c.req.query("conversation");
    const history = ticket === undefined
      ? null
      : await readStash(deps.database.sql, sessionSecretOf(c), ticket);
    const fields: Fields = history === null ? {} : { history };
    return sendModel(c, account, offer, { fields });
  };
}

/** The page of a model, also with an error of its playground. */
export function sendModel(
  c: SiteContext,
  account: PricedAccount,
  offer: Offer,
  { status, ...playground }: Omit<PlaygroundProps, "c" | "offer"> & { status?: number },
): Response {
  const { details, model } = offer;
  const route = routeOf(c.env.config, model.type);
  const canRun = route !== null && details.status !== "unavailable" && offer.price !== null;
  return sendConsole(
    c,
    { section: "models", title: details.name, scripts: ["playground"], status: status ?? 200 },
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href="/console/models">Models</a>
      </nav>
      <Head
        title={
          <span class="row-tight">
            <TypeMark type={details.type} />
            {details.name}
            <ModelStatusBadge status={details.status} />
          </span>
        }
        note={details.description}
      />
      <div class="with-facts">
        {canRun ? <Playground c={c} offer={offer} {...playground} /> : (
          <Notice kind="info">
            {route === null
              ? "Models of this type are not available yet: their endpoint is planned."
              : "This model is currently unavailable."}
          </Notice>
        )}
        <aside class="stack model-facts" aria-label="About this model">
          <PriceCard c={c} account={account} offer={offer} />
          <FactCards offer={offer} />
        </aside>
      </div>
      <Connect c={c} offer={offer} />
    </>,
  );
}

function Connect({ c, offer: { model } }: { c: SiteContext; offer: Offer }) {
  const connection = connectionTo(c.env.config, model, { baseUrl: baseUrlOf(c) });
  if (connection === null) return null;
  return (
    <section class="stack" id="connect">
      <h2>Connect</h2>
      <p class="soft">
        With an <a href="/console/keys">API key</a> in{" "}
        <code>{keyVariable(connection)}</code>, these work as they are.{" "}
        <a href="/docs/connect">About connecting clients</a>
      </p>
      <ConnectPanel connection={connection} chosen={c.req.query("client")} />
    </section>
  );
}

function PriceCard(
  { c, account, offer: { model, price } }: {
    c: SiteContext;
    account: PricedAccount;
    offer: Offer;
  },
) {
  const { config } = c.env;
  const stages = stagePriceLines(config, account, model);
  return (
    <section class="card stack-s">
      <h2 class="card-title">Your price</h2>
      {price === null
        ? <p class="soft">No price available for your account.</p>
        : (
          <dl class="facts facts-tight">
            {priceLines(price, config.service.currency).map(([name, text]) => (
              <>
                <dt>{stages.length > 0 && name === "Price" ? "Drama fee" : name}</dt>
                <dd class="numeric">{text}</dd>
              </>
            ))}
          </dl>
        )}
      {announcedPrices(config, account, model.id, Date.now()).map((next) => (
        <>
          <p class="small soft">
            From <Time at={new Date(next.effectiveAt).toISOString()} as="date" />:
          </p>
          <dl class="facts facts-tight">
            {priceLines(next, config.service.currency).map(([name, text]) => (
              <>
                <dt>{name}</dt>
                <dd class="numeric">{text}</dd>
              </>
            ))}
          </dl>
        </>
      ))}
      {stages.length > 0 && (
        <>
          <p class="small soft">Plus the models used:</p>
          <dl class="facts facts-tight">
            {stages.map(([name, text]) => (
              <>
                <dt>{name}</dt>
                <dd class="numeric">{text}</dd>
              </>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

function FactCards({ offer: { details } }: { offer: Offer }) {
  const limits = Object.entries(details.limits);
  const { advantages = [], scenarios = [] } = details;
  return (
    <>
      <section class="card stack-s">
        <h2 class="card-title">Capabilities</h2>
        <div class="row-tight">
          {details.capabilities.map((each) => <Badge>{readableName(each)}</Badge>)}
        </div>
        {advantages.length > 0 && (
          <ul class="plain-list soft small">{advantages.map((each) => <li>{each}</li>)}</ul>
        )}
      </section>
      {limits.length > 0 && (
        <section class="card stack-s">
          <h2 class="card-title">Limits</h2>
          <dl class="facts facts-tight">
            {limits.map(([name, value]) => {
              const [label, unit] = LIMITS[name] ?? [readableName(name), ""];
              return (
                <>
                  <dt>{label}</dt>
                  <dd class="numeric">
                    {Array.isArray(value) ? value.join(", ") : formatCount(value)}
                    {unit}
                  </dd>
                </>
              );
            })}
          </dl>
        </section>
      )}
      {scenarios.length > 0 && (
        <section class="card stack-s">
          <h2 class="card-title">Use cases</h2>
          <div class="row-tight">{scenarios.map((each) => <Badge>{each}</Badge>)}</div>
        </section>
      )}
    </>
  );
}

/** Labels and units of limits. */
const LIMITS: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  context_tokens: ["Context", " tokens"],
  max_output_tokens: ["Max output", " tokens"],
  max_prompt_length: ["Max prompt", " characters"],
  max_count: ["Max images per request", ""],
  max_input_images: ["Max input images", ""],
  max_characters: ["Max characters", ""],
  max_shots: ["Max shots", ""],
  aspect_ratios: ["Aspect ratios", ""],
  durations: ["Durations", " seconds"],
  sizes: ["Sizes", ""],
  qualities: ["Qualities", ""],
  resolutions: ["Resolutions", ""],
  voices: ["Voices", ""],
  formats: ["Formats", ""],
  max_inputs: ["Max texts per request", ""],
  max_input_tokens: ["Max text", " tokens"],
  max_dimensions: ["Max dimensions", ""],
};
