import type { SiteContext } from "../context.ts";
import { Badge, CodeBox, Notice } from "../parts.tsx";
import { pricedAccountOf } from "./account.ts";
import { apiUrl } from "./address.ts";
import { type Offer, offerOf, routeOf } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { formatCount } from "./format.ts";
import { describeLimits, ModelStatusBadge } from "./models.tsx";
import { Playground, type PlaygroundProps } from "./playground.tsx";
import { bodyOf } from "./playground_body.ts";
import { priceLines } from "./price_text.ts";
import { Head, sendConsole } from "./shell.tsx";
import { TypeMark } from "./type_mark.tsx";

/** GET /console/models/{id} */
export function modelPage(deps: ConsoleDeps) {
  return async function modelPage(c: SiteContext): Promise<Response> {
    const account = await pricedAccountOf(c, deps);
    return sendModel(c, offerOf(c.env.config, account, c.req.param("id") ?? ""));
  };
}

/** The page of a model, also with an answer or a fault on it. */
export function sendModel(
  c: SiteContext,
  offer: Offer,
  more: Omit<PlaygroundProps, "c" | "offer"> & { status?: number } = {},
): Response {
  const { shown, model } = offer;
  const { status, ...played } = more;
  const route = routeOf(c.env.config, model.type);
  const canRun = route !== null && shown.status !== "unavailable" && offer.price !== null;
  return sendConsole(
    c,
    { section: "models", title: shown.name, scripts: ["playground"], status: status ?? 200 },
    <>
      <nav class="crumbs" aria-label="You are here">
        <a href="/console/models">Models</a>
      </nav>
      <Head
        title={
          <span class="row-tight">
            <TypeMark type={shown.type} />
            {shown.name}
            <ModelStatusBadge status={shown.status} />
          </span>
        }
        note={shown.description}
      />
      <div class="with-facts">
        {canRun ? <Playground c={c} offer={offer} {...played} /> : (
          <Notice kind="info">
            {route === null
              ? "Models of this type cannot be called yet: their endpoint is planned."
              : "This model cannot be called just now."}
          </Notice>
        )}
        <Facts offer={offer} currency={c.env.config.service.currency} />
      </div>
      {route !== null && (
        <section class="stack">
          <h2>Call it</h2>
          <CodeBox id="model-call" text={callOf(c, offer, route)} />
        </section>
      )}
    </>,
  );
}

function Facts({ offer: { shown, price }, currency }: { offer: Offer; currency: string }) {
  const limits = Object.entries(shown.limits);
  return (
    <aside class="stack" aria-label="About this model">
      <section class="card stack-s">
        <h2 class="card-title">Your price</h2>
        {price === null
          ? <p class="soft">Nobody has priced it for your account.</p>
          : (
            <dl class="facts facts-tight">
              {priceLines(price, currency).map(([name, text]) => (
                <>
                  <dt>{name}</dt>
                  <dd class="numeric">{text}</dd>
                </>
              ))}
            </dl>
          )}
      </section>
      <section class="card stack-s">
        <h2 class="card-title">What it can do</h2>
        <div class="row-tight">
          {shown.capabilities.map((each) => <Badge>{describeLimits(each)}</Badge>)}
        </div>
        {(shown.advantages ?? []).length > 0 && (
          <ul class="plain-list soft small">
            {shown.advantages!.map((each) => <li>{each}</li>)}
          </ul>
        )}
      </section>
      {limits.length > 0 && (
        <section class="card stack-s">
          <h2 class="card-title">Limits</h2>
          <dl class="facts facts-tight">
            {limits.map(([name, value]) => {
              const [label, unit] = LIMITS[name] ?? [describeLimits(name), ""];
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
      {(shown.scenarios ?? []).length > 0 && (
        <section class="card stack-s">
          <h2 class="card-title">Good for</h2>
          <div class="row-tight">{shown.scenarios!.map((each) => <Badge>{each}</Badge>)}</div>
        </section>
      )}
    </aside>
  );
}

/** What a limit is called, and what it counts. */
const LIMITS: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  context_tokens: ["Context", " tokens"],
  max_output_tokens: ["Longest answer", " tokens"],
  max_prompt_length: ["Longest prompt", " characters"],
  max_count: ["At once", ""],
  max_input_images: ["Input pictures", ""],
  max_characters: ["People in a story", ""],
  max_shots: ["Shots", ""],
  aspect_ratios: ["Aspect ratios", ""],
  durations: ["Lengths", " seconds"],
  sizes: ["Sizes", ""],
  voices: ["Voices", ""],
  formats: ["Formats", ""],
};

/** An example that the API accepts, from the model's own limits. */
function callOf(c: SiteContext, { model, shown }: Offer, route: string): string {
  const first = (name: string) => {
    const values = shown.limits[name];
    return Array.isArray(values) ? String(values[0]) : "";
  };
  const body = bodyOf(model, {
    prompt: "A lighthouse in the rain",
    size: first("sizes"),
    duration: first("durations"),
    aspect_ratio: first("aspect_ratios"),
    input: "Good morning.",
    voice: first("voices"),
    response_format: first("formats"),
    title: "The lighthouse",
    script: "A configStore finds a letter.",
    stage: "script",
    business_id: "my-own-id-1",
    avatar_file_id: "file_…",
    audio_file_id: "file_…",
  });
  return [
    `curl ${apiUrl(c)}${route} \\`,
    '  -H "Authorization: Bearer $TOLLGATE_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body)}'${
      shown.type === "speech" ? ` -o speech.${first("formats")}` : ""
    }`,
  ].join("\n");
}
