import type { Child } from "hono/jsx";
import { type PageOptions, sendHtmlPage } from "../layout.tsx";
import { personOf, type SiteContext } from "../context.ts";

/** An entry of the console's navigation. */
export type Section =
  | "overview"
  | "keys"
  | "models"
  | "requests"
  | "usage"
  | "tasks"
  | "webhooks"
  | "billing"
  | "accounts"
  | "operator_requests"
  | "margins"
  | "configuration"
  | "providers"
  | "queue"
  | "tokens"
  | "audit";

const OWN: [Section, path: string, name: string][] = [
  ["overview", "/console", "Overview"],
  ["keys", "/console/keys", "API keys"],
  ["models", "/console/models", "Models"],
  ["requests", "/console/requests", "Requests"],
  ["usage", "/console/usage", "Usage"],
  ["tasks", "/console/tasks", "Tasks"],
  ["webhooks", "/console/webhooks", "Webhooks"],
  ["billing", "/console/billing", "Billing"],
];

const OPERATORS: [Section, path: string, name: string][] = [
  ["accounts", "/console/operator/accounts", "Accounts"],
  ["operator_requests", "/console/operator/requests", "All requests"],
  ["margins", "/console/operator/margins", "Revenue and cost"],
  ["configuration", "/console/operator/configuration", "Configuration"],
  ["providers", "/console/operator/providers", "Providers"],
  ["queue", "/console/operator/queue", "Queue"],
  ["tokens", "/console/operator/tokens", "Admin tokens"],
  ["audit", "/console/operator/audit", "Audit log"],
];

/** A page of the console: its navigation, and the content beside it. `null` for a page of no section. */
export function sendConsole(
  c: SiteContext,
  options: Omit<PageOptions, "at" | "width"> & { section: Section | null },
  content: Child,
): Response {
  const { section, ...page } = options;
  const link = ([id, path, name]: [Section, string, string]) => (
    <a href={path} {...(id === section ? { "aria-current": "page" } : {})}>{name}</a>
  );
  return sendHtmlPage(
    c,
    { ...page, at: "console", scripts: ["console", ...page.scripts ?? []] },
    <div class="with-side">
      <nav class="side" aria-label="Console">
        {OWN.map(link)}
        {personOf(c).isOperator && (
          <>
            <div class="side-title">Operator</div>
            {OPERATORS.map(link)}
          </>
        )}
      </nav>
      <div class="stack-l">{content}</div>
    </div>,
  );
}

/** The heading of a page, with its actions. */
export function Head(
  { title, note, children }: { title: Child; note?: Child; children?: Child },
) {
  return (
    <div class="console-head">
      <div>
        <h1>{title}</h1>
        {note && <p class="soft">{note}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </div>
  );
}

/** A table in a card, under a heading. */
export function TableCard(
  { title, head, columns, children, foot }: {
    title?: string;
    head?: Child;
    columns: readonly (string | readonly [name: string, className: string])[];
    children: Child;
    foot?: Child;
  },
) {
  return (
    <section class="card card-flush">
      {(title !== undefined || head) && (
        <div class="card-head">
          {title !== undefined && <h2 class="card-title">{title}</h2>}
          {head}
        </div>
      )}
      <table class="table table-cards">
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, className] = typeof column === "string" ? [column, ""] : column;
              return (
                <th scope="col" class={className}>
                  {name === "" ? <span class="sr-only">Actions</span> : name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {foot}
    </section>
  );
}

/** Links to the first and to the next page of a list. */
export function Pager(
  { path, query, lastId, hasMore }: {
    path: string;
    query: Record<string, string | undefined>;
    lastId: string | undefined;
    hasMore: boolean;
  },
) {
  const isFirst = query.after === undefined;
  if (isFirst && !hasMore) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {isFirst
        ? <span></span>
        : <a href={withQuery(path, { ...query, after: undefined })}>Back to newest</a>}
      {hasMore && <a href={withQuery(path, { ...query, after: lastId })}>Older</a>}
    </nav>
  );
}

/** A path with the query parameters that are set. */
export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] =>
    entry[1] !== undefined && entry[1] !== ""
  );
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}

/** Choices as links, such as 7, 30 or 90 days. */
export function ChoiceLinks(
  { label, options, value, path, query, name }: {
    label: string;
    options: readonly (readonly [value: string, text: string])[];
    value: string;
    path: string;
    query: Record<string, string | undefined>;
    name: string;
  },
) {
  return (
    <nav class="choice" aria-label={label}>
      {options.map(([each, text]) => (
        <a
          href={withQuery(path, { ...query, [name]: each, after: undefined })}
          {...(each === value ? { "aria-current": "true" } : {})}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
