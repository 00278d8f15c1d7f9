import type { Child } from "hono/jsx";
import type { SiteContext } from "../context.ts";
import { sendHtmlPage } from "../layout.tsx";
import { Badge } from "../parts.tsx";
import type { DocumentedCall, Group } from "./document.ts";
import { GUIDES } from "./guides.ts";

const REFERENCES = [
  ["/docs/reference", "API reference"],
  ["/docs/operator", "Operator API"],
] as const;

/** A page of the documentation, with the navigation beside it. */
export function sendDocs(
  c: SiteContext,
  { title, groups = [] }: { title: string; groups?: readonly Group[] },
  content: Child,
): Response {
  return sendHtmlPage(
    c,
    {
      title: `${title} · Docs`,
      at: "docs",
      description: `${title}: ${c.env.config.service.name} API`,
    },
    <div class="docs">
      <nav class="docs-nav" aria-label="Documentation">
        <h2>Guides</h2>
        <Links c={c} links={GUIDES.map(({ path, title }) => [path, title] as const)} />
        <h2>Reference</h2>
        <Links c={c} links={REFERENCES} />
        {groups.map(({ title, calls }) => (
          <div class="docs-calls">
            <h2>{title}</h2>
            <ul>
              {calls.map((call) => (
                <li>
                  <a href={`#${anchorOf(call)}`}>
                    <Verb method={call.method} />
                    <span>{shortPath(call.path)}</span>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div class="docs-body">{content}</div>
    </div>,
  );
}

function Links(
  { c, links }: { c: SiteContext; links: readonly (readonly [path: string, text: string])[] },
) {
  return (
    <ul>
      {links.map(([path, text]) => (
        <li>
          <a href={path} aria-current={c.req.path === path ? "page" : undefined}>{text}</a>
        </li>
      ))}
    </ul>
  );
}

export function Verb({ method }: { method: string }) {
  return <span class={`verb verb-${method}`}>{method === "delete" ? "del" : method}</span>;
}

export function StageBadge({ stage }: { stage: DocumentedCall["x-stage"] }) {
  if (stage === "preview") return <Badge kind="info">Preview</Badge>;
  return stage === "planned" ? <Badge>Planned</Badge> : null;
}

export function anchorOf(call: DocumentedCall): string {
  return call.operationId;
}

function shortPath(path: string): string {
  return path.replace(/^\/(?:admin\/)?v1/, "");
}
