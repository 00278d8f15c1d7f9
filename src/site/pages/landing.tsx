import { isVisible, type Model, statusAt } from "../../platform/config/config.ts";
import { FORMS } from "../console/playground/forms.ts";
import { chatCurl } from "../curl_example.ts";
import type { SiteContext } from "../context.ts";
import { formatList } from "../format.ts";
import { sendHtmlPage } from "../layout.tsx";
import { Badge, CodeBox } from "../parts.tsx";

const MODELS_SHOWN = 6;

/** GET /: the landing page. */
export function landing(c: SiteContext): Response {
  const { service, site, models } = c.env.config;
  const now = Date.now();
  const isSignedIn = c.var.signedIn !== null;
  const open = [...models.values()].filter((model) =>
    statusAt(model, now) !== "unavailable" && isVisible(model, { id: "", plan: "free" })
  );
  const kinds = [...new Set(open.map(({ type }) => FORMS[type].title.toLowerCase()))];
  return sendHtmlPage(
    c,
    {
      title: service.name,
      description: `${service.name}: ${
        formatList(kinds)
      } through one OpenAI-compatible API, one key and one balance.`,
    },
    <>
      <div class="hero">
        <div>
          <h1>One key for every model you use.</h1>
          <p class="lead">
            {service.name} offers {formatList(kinds)}{" "}
            through one OpenAI-compatible API. See the maximum cost before a request runs, and the
            exact cost afterwards.
          </p>
          <div class="row">
            {isSignedIn
              ? <a class="button button-primary button-large" href="/console">Open the console</a>
              : site.registration
              ? <a class="button button-primary button-large" href="/register">Create an account</a>
              : <a class="button button-primary button-large" href="/sign-in">Sign in</a>}
            <a class="button button-large" href="/docs">Read the docs</a>
          </div>
        </div>
        <Demo curl={chatCurl(c, open.find(({ type }) => type === "chat")?.id ?? "sim-chat")} />
      </div>
      <div class="points">
        <section>
          <h2>Works with your tools</h2>
          <p>
            Point coding agents, editors, the OpenAI and Anthropic SDKs or curl at another URL.{" "}
            <a href="/docs/connect">Connect a client</a>
          </p>
        </section>
        <section>
          <h2>Async jobs, one API</h2>
          <p>
            Submit images, videos and avatars, follow their progress, and receive the results by
            signed webhook. A retry with the same idempotency key is never charged twice.
          </p>
        </section>
        <section>
          <h2>Transparent billing</h2>
          <p>
            The maximum cost of a request is held first, the rest is released as soon as it ends,
            and every request has a receipt that says what was charged.
          </p>
        </section>
      </div>
      {open.length > 0 && (
        <div class="model-strip">
          <h2>Models</h2>
          <div class="grid grid-wide">
            {open.slice(0, MODELS_SHOWN).map((model) => <ModelCard model={model} />)}
          </div>
        </div>
      )}
    </>,
  );
}

function Demo({ curl }: { curl: string }) {
  return (
    <div class="hero-demo">
      <CodeBox id="hero-curl" title="Send a chat request" text={curl} />
      <div class="reply">
        <dl>
          <dt>x-request-id</dt>
          <dd>req_01k…</dd>
          <dt>receipt</dt>
          <dd>GET /v1/usage/req_01k…</dd>
        </dl>
      </div>
    </div>
  );
}

function ModelCard({ model }: { model: Model }) {
  const { name, description } = JSON.parse(model.listJson) as {
    name: string;
    description?: string;
  };
  return (
    <div class="card model-chip">
      <div class="row">
        <strong>{name}</strong>
        <span class="push">
          <Badge>{FORMS[model.type].title}</Badge>
        </span>
      </div>
      <code class="faint small">{model.id}</code>
      {description && <p>{description}</p>}
    </div>
  );
}
