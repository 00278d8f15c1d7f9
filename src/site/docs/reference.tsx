import { raw } from "hono/html";
import type { Config } from "../../platform/config/config.ts";
import { baseUrlOf } from "../base_url.ts";
import type { SiteContext, SiteDeps } from "../context.ts";
import { Badge, CodeBox } from "../parts.tsx";
import {
  describeType,
  type DocumentedCall,
  type DocumentedField,
  fieldsOf,
  type Group,
  groupsOf,
  type OpenApi,
  scopesOf,
} from "./document.ts";
import { sampleCurl } from "./sample.ts";
import { anchorOf, sendDocs, StageBadge, Verb } from "./shell.tsx";

interface Rendered {
  groups: Group[];
  html: string;
}

/** A Host header may have any value: only a few rendered pages are kept. */
const KEPT_MAX = 8;

/** The reference, made from the document that is served at /openapi.json. */
export function reference({ document }: SiteDeps, audience: "client" | "operator") {
  // The site is built for each configuration, so its document is rendered once per base URL.
  const rendered = new Map<string, Rendered>();
  return (c: SiteContext): Response => {
    const base = baseUrlOf(c);
    let page = rendered.get(base);
    if (page === undefined) {
      const { config } = c.env;
      page = render(document(config) as unknown as OpenApi, config, base, audience);
      if (rendered.size < KEPT_MAX) rendered.set(base, page);
    }
    const title = audience === "client" ? "API reference" : "Operator API";
    return sendDocs(
      c,
      { title, groups: page.groups },
      <>
        <section>
          <h1>{title}</h1>
          <p class="soft">
            {audience === "client"
              ? (
                <>
                  Every endpoint, made from{" "}
                  <a href="/openapi.json">the OpenAPI document</a>. The base URL is{" "}
                  <code>{base}</code>; the API key goes into the header{" "}
                  <code>Authorization: Bearer</code>.
                </>
              )
              : (
                <>
                  For operators of this gateway. Requests need an admin token instead of an API key,
                  the root token or one with the scope that is named; <code>deno task gateway</code>
                  {" "}
                  wraps all of it.
                </>
              )}
          </p>
        </section>
        {raw(page.html)}
      </>,
    );
  };
}

function render(
  document: OpenApi,
  config: Config,
  base: string,
  audience: "client" | "operator",
): Rendered {
  const groups = groupsOf(document).map(({ title, calls }) => ({
    title,
    calls: calls.filter(({ path }) => path.startsWith("/v1/") === (audience === "client")),
  })).filter(({ calls }) => calls.length > 0);
  const html = groups.map(({ title, calls }) =>
    String(
      <section aria-label={title}>
        <h2>{title}</h2>
        {calls.map((call) => (
          <CallEntry document={document} config={config} base={base} call={call} />
        ))}
      </section>,
    )
  ).join("");
  return { groups, html };
}

function CallEntry(
  { document, config, base, call }: {
    document: OpenApi;
    config: Config;
    base: string;
    call: DocumentedCall;
  },
) {
  const id = anchorOf(call);
  const [type, body] = Object.entries(call.requestBody?.content ?? {})[0] ?? [];
  const responses = Object.entries(call.responses).filter(([status]) => status !== "default");
  return (
    <article class="call stack" id={id}>
      <div class="call-title">
        <Verb method={call.method} />
        <h3>{call.path}</h3>
        <StageBadge stage={call["x-stage"]} />
        {scopesOf(call).map((scope) => <Badge kind="info">Scope: {scope}</Badge>)}
        {call.deprecated && <Badge kind="warn">Deprecated</Badge>}
      </div>
      <p>{call.summary}.</p>
      {call.description && <p class="soft">{call.description}</p>}
      {call.parameters && call.parameters.length > 0 && (
        <div class="stack-s">
          <h4>Parameters</h4>
          <Fields
            fields={call.parameters.map((parameter) => ({
              name: parameter.name,
              type: `${parameter.in} · ${describeType(document, parameter.schema)}`,
              required: parameter.required ?? false,
              description: parameter.description,
              fallback: undefined,
              fields: [],
            }))}
          />
        </div>
      )}
      {body && (
        <div class="stack-s">
          <h4>
            Body <span class="faint small">{type}</span>
          </h4>
          <Fields fields={fieldsOf(document, body.schema ?? {})} />
        </div>
      )}
      {responses.map(([status, response]) => {
        const [kind, content] = Object.entries(response.content ?? {})[0] ?? [];
        const fields = fieldsOf(document, content?.schema ?? {});
        return (
          <details class="disclosure">
            <summary>
              Response {status} <span class="faint small">{kind}</span>
            </summary>
            <div>
              {fields.length > 0 ? <Fields fields={fields} /> : <p>{response.description}.</p>}
            </div>
          </details>
        );
      })}
      {call["x-stage"] !== "planned" && (
        <CodeBox
          id={`${id}-curl`}
          title="curl"
          text={sampleCurl(config, base, call)}
        />
      )}
    </article>
  );
}

function Fields({ fields }: { fields: readonly DocumentedField[] }) {
  return (
    <table class="params">
      <tbody>
        {fields.map((field) => (
          <tr>
            <td>
              <code>{field.name}</code> {field.required && <span class="must">required</span>}
              <span class="type">{field.type}</span>
            </td>
            <td>
              {field.description}
              {field.fallback !== undefined && (
                <span class="type">
                  Default: <code>{field.fallback}</code>
                </span>
              )}
              {field.fields.length > 0 && (
                <details>
                  <summary class="small">Fields of {field.name}</summary>
                  <Fields fields={field.fields} />
                </details>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
