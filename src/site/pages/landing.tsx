import { isVisible, type Model } from "../../platform/config/config.ts";
import { baseUrlOf } from "../base_url.ts";
import type { SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { Badge, CodeBox } from "../parts.tsx";

const SHOWN_MODELS = 6;
const TYPE_NAMES: Readonly<Record<Model["type"], string>> = {
  chat: "Chat",
  image: "Images",
  video: "Video",
  avatar: "Avatars",
  drama: "Dramas",
  speech: "Speech",
};

/** GET /: what this is, and one call that shows it. */
export function landing(c: SiteContext): Response {
  const { service, site, models } = c.env.config;
  const isSignedIn = c.var.signedIn !== null;
  const open = [...models.values()].filter((model) =>
    model.status !== "unavailable" && isVisible(model, { id: "", plan: "free" })
  );
  const kinds = [...new Set(open.map(({ type }) => TYPE_NAMES[type].toLowerCase()))];
  return sendHtmlPage(
    c,
    {
      title: service.name,
      description: `${service.name}: ${
        listed(kinds)
      } through one OpenAI-compatible API, one key and one balance.`,
    },
    <>
      <div class="hero">
        <div>
          <h1>One key for every model you use.</h1>
          <p class="lead">
            {service.name} brings {listed(kinds)}{" "}
            through one API that any OpenAI SDK can call. You see what a request costs before it
            runs and exactly what it did cost afterwards.
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
        <Demo
          base={baseUrlOf(c)}
          model={open.find(({ type }) => type === "chat")?.id ?? "sim-chat"}
        />
      </div>
      <div class="points">
        <section>
          <h2>Works with what you have</h2>
          <p>
            Change the base address in the OpenAI SDK, the Vercel AI SDK or plain curl. Streaming,
            tools, structured answers and pictures pass through.
          </p>
        </section>
        <section>
          <h2>Long work is a task</h2>
          <p>
            Pictures, video and speech are submitted once, watched while they run and delivered to
            your webhook, signed. A retry with the same idempotency key never pays twice.
          </p>
        </section>
        <section>
          <h2>Money you can follow</h2>
          <p>
            The most a request can cost is set aside first, the rest comes back the moment it ends,
            and every call has a receipt. What fails is free.
          </p>
        </section>
      </div>
      {open.length > 0 && (
        <div class="model-strip">
          <h2>On offer now</h2>
          <div class="grid grid-wide">
            {open.slice(0, SHOWN_MODELS).map((model) => <ModelCard model={model} />)}
          </div>
        </div>
      )}
    </>,
  );
}

function Demo({ base, model }: { base: string; model: string }) {
  return (
    <div class="hero-demo">
      <CodeBox id="hero-curl" title="One request" text={chatCurl(base, model)} />
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
          <Badge>{TYPE_NAMES[model.type]}</Badge>
        </span>
      </div>
      <code class="faint small">{model.id}</code>
      {description && <p>{description}</p>}
    </div>
  );
}

/** A first call that works as it stands, once the key is in the environment. */
export function chatCurl(base: string, model: string): string {
  return `curl ${base}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "stream": true,
    "messages": [
      {"role": "user", "content": "Hello!"}
    ]
  }'`;
}

function listed(words: string[]): string {
  return new Intl.ListFormat("en").format(words);
}
