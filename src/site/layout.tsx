import type { Child } from "hono/jsx";
import { assetPath } from "./assets.ts";
import type { SiteContext } from "./context.ts";
import { Logo } from "./logo.tsx";
import { Notice } from "./parts.tsx";
import { sendHtml } from "./respond.ts";

export interface PageOptions {
  title: string;
  description?: string;
  /** `narrow` for one form, `text` for reading, `wide` (the default) for everything else. */
  width?: "wide" | "narrow" | "text" | "full";
  /** Islands of this page by name, as in src/site/islands. `copy` and `page` are on every page. */
  scripts?: readonly string[];
  status?: number;
  /** Which entry of the top navigation this belongs to. */
  at?: "console" | "docs" | "account";
  /** Further origins that the page's Content-Security-Policy allows. */
  reach?: { connect?: string; form?: string };
}

/** A whole page as a response. */
export function sendHtmlPage(c: SiteContext, options: PageOptions, content: Child): Response {
  const page = (
    <Document c={c} {...options}>
      {content}
    </Document>
  );
  return sendHtml(`<!doctype html>${page}`, options.status ?? 200, options.reach);
}

function Document(
  { c, title, description, width = "wide", scripts = [], at, children }: PageOptions & {
    c: SiteContext;
    children: Child;
  },
) {
  const { name } = c.env.config.service;
  const { flash } = c.var;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title === name ? name : `${title} · ${name}`}</title>
        {description && <meta name="description" content={description} />}
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath("site.css")} />
        {[...new Set(["page", "copy", ...scripts])].map((script) => (
          <script type="module" src={assetPath(`${script}.js`)}></script>
        ))}
      </head>
      <body>
        <a class="skip-link" href="#main">Skip to content</a>
        <Top c={c} at={at} />
        <main id="main" tabindex={-1} class={width === "full" ? "" : `main main-${width}`}>
          {flash && (
            <div class="flash">
              <Notice kind={flash.kind} role="status">{flash.text}</Notice>
            </div>
          )}
          {children}
        </main>
        <Foot c={c} />
      </body>
    </html>
  );
}

function Top({ c, at }: { c: SiteContext; at: PageOptions["at"] }) {
  const { service, site } = c.env.config;
  const current = (place: PageOptions["at"]) => at === place ? { "aria-current": "page" } : {};
  return (
    <header class="top">
      <div class="top-inner">
        <a class="brand" href="/">
          <Logo />
          <span>{service.name}</span>
        </a>
        <nav aria-label="Site">
          <a href="/docs" {...current("docs")}>Docs</a>
          {c.var.signedIn === null
            ? (
              <>
                <a href="/sign-in">Sign in</a>
                {site.registration && (
                  <a class="button button-primary button-small hide-phone" href="/register">
                    Create account
                  </a>
                )}
              </>
            )
            : (
              <>
                <a href="/console" {...current("console")}>Console</a>
                <a href="/account" {...current("account")}>Account</a>
              </>
            )}
        </nav>
      </div>
    </header>
  );
}

function Foot({ c }: { c: SiteContext }) {
  const { service } = c.env.config;
  return (
    <footer class="foot">
      <div class="foot-inner">
        <span>{service.name}</span>
        <a href="/docs">API reference</a>
        <a href="/openapi.json">OpenAPI document</a>
        {service.supportUrl !== null && <a href={service.supportUrl}>Support</a>}
      </div>
    </footer>
  );
}
