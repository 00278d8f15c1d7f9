import type { Config } from "../../platform/config/config.ts";
import {
  DELIVERY_STATES,
  listDeliveries,
  type WebhookDelivery,
} from "../../domain/webhooks/deliveries.ts";
import {
  type EndpointFields,
  listEndpoints,
  type WebhookEndpoint,
} from "../../domain/webhooks/endpoints.ts";
import { audited } from "../../domain/audit/audit.ts";
import { checkUrlResolves } from "../../platform/outbound/check_url.ts";
import { addEndpoint } from "../../workflows/accounts/manage_webhooks.ts";
import { memberOf } from "../actor.ts";
import { EVENT_TYPES } from "../../domain/webhooks/event.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { type FieldLabels, type FormError, messageAt, toFormError } from "../form_error.ts";
import { formatRoundDuration } from "../format.ts";
import { Badge, Empty, Field, Form } from "../parts.tsx";
import { endpointForm } from "../request_forms.ts";
import { seeOtherWith } from "../respond.ts";
import { Time } from "../time.tsx";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { readableName } from "../readable_name.ts";
import { ChoiceLinks, Head, Pager, sendConsole, TableCard } from "./shell.tsx";

export const WEBHOOKS = "/console/webhooks";
const PAGE = 20;

/** Labels of the endpoint form by the API's field names. */
export const ENDPOINT_LABELS: FieldLabels = {
  url: "Endpoint URL",
  description: "Description",
  event_types: "Events",
};

/** GET /console/webhooks: endpoints and the latest deliveries. */
export function webhooksPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendWebhooks(deps, c);
}

/** POST /console/webhooks: creates an endpoint and continues at its secret. */
export function createWebhookPage(deps: ConsoleDeps) {
  return async function createWebhookPage(c: SiteContext): Promise<Response> {
    const { account } = personOf(c);
    const fields = await readSiteForm(c);
    try {
      const { outbound } = c.env.config;
      const wanted = readEndpoint(fields);
      await checkUrlResolves(wanted.url, outbound, "url");
      const endpoint = await audited(
        deps,
        memberOf(c),
        (change) => addEndpoint(change, deps.webhooks, account, wanted),
      );
      return seeOtherWith(c, `${WEBHOOKS}/${endpoint.id}/secret`, "good", "Endpoint created.");
    } catch (error) {
      const formError = toFormError(error, ENDPOINT_LABELS);
      return await sendWebhooks(deps, c, { fields, error: formError });
    }
  };
}

/** Reads the endpoint form. No event selected means all events. */
export function readEndpoint(fields: Record<string, string>): Required<EndpointFields> {
  const types = EVENT_TYPES.filter((type) => fields[type] !== undefined);
  const event_types = types.length === 0 ? [...EVENT_TYPES] : types;
  const description = (fields.description ?? "").trim();
  return { ...endpointForm.read(fields, { event_types, description }), description, event_types };
}

async function sendWebhooks(
  { database }: ConsoleDeps,
  c: SiteContext,
  { fields = {}, error }: { fields?: Record<string, string>; error?: FormError } = {},
): Promise<Response> {
  const { account } = personOf(c);
  const { after, ...asked } = c.req.query();
  const status = DELIVERY_STATES.find((each) => each === asked.status);
  const [endpoints, deliveries] = await Promise.all([
    listEndpoints(database.sql, account, { limit: 100, order: "asc" }),
    listDeliveries(database.sql, { account, status, after, limit: PAGE, order: "desc" }),
  ]);
  const isNew = endpoints.data.length === 0;
  return sendConsole(
    c,
    { section: "webhooks", title: "Webhooks", status: error === undefined ? 200 : 400 },
    <>
      <Head
        title="Webhooks"
        note="When a task ends, a signed event is sent to your endpoints (Standard Webhooks)."
      >
        <a class="button" href={`${WEBHOOKS}/callback-secret`}>callback_url secret</a>
      </Head>
      {!isNew && (
        <TableCard columns={["Endpoint", "Events", "Status", "Created"]}>
          {endpoints.data.map((endpoint) => <EndpointRow endpoint={endpoint} />)}
        </TableCard>
      )}
      <details class="disclosure" open={isNew || error !== undefined}>
        <summary>New endpoint</summary>
        <Form c={c} action={WEBHOOKS}>
          <EndpointFieldset fields={fields} error={error} webhooks={c.env.config.webhooks} />
          <div>
            <button type="submit" class="button button-primary">Create endpoint</button>
          </div>
        </Form>
      </details>
      <LatestDeliveries status={status} after={after} deliveries={deliveries} />
    </>,
  );
}

/** The deliveries of all endpoints: one page of those with the chosen status. */
function LatestDeliveries(
  { status, after, deliveries: { data, hasMore } }: {
    status: WebhookDelivery["status"] | undefined;
    after: string | undefined;
    deliveries: Awaited<ReturnType<typeof listDeliveries>>;
  },
) {
  if (data.length === 0 && status === undefined) {
    return (
      <section class="card">
        <Empty title="No deliveries yet">
          <p>Every attempt is listed here with the response of your endpoint.</p>
        </Empty>
      </section>
    );
  }
  return (
    <DeliveryTable
      title="Deliveries"
      deliveries={data}
      head={
        <ChoiceLinks
          label="Delivery status"
          name="status"
          options={[
            ["", "All"],
            ...DELIVERY_STATES.map((each) => [each, readableName(each)] as const),
          ]}
          value={status ?? ""}
          path={WEBHOOKS}
          query={{}}
        />
      }
      foot={
        <Pager
          path={WEBHOOKS}
          query={{ status, after }}
          lastId={data.at(-1)?.id}
          hasMore={hasMore}
        />
      }
    />
  );
}

function EndpointRow({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, url, description, event_types: types } = endpoint;
  return (
    <tr>
      <td data-label="Endpoint">
        <span>
          <a class="break strong" href={`${WEBHOOKS}/${id}`}>{url}</a>
          {description !== "" && <span class="small faint block">{description}</span>}
        </span>
      </td>
      <td data-label="Events">
        {types.length === EVENT_TYPES.length ? "All" : types.map(shortType).join(", ")}
      </td>
      <td data-label="Status">
        <EndpointStatus endpoint={endpoint} />
      </td>
      <td data-label="Created">
        <Time at={endpoint.created} as="date" />
      </td>
    </tr>
  );
}

export function EndpointStatus({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (endpoint.status === "disabled") return <Badge kind="bad">Disabled</Badge>;
  return endpoint.failing_since === null
    ? <Badge kind="good" dot>Enabled</Badge>
    : <Badge kind="warn" dot>Failing</Badge>;
}

function shortType(type: string): string {
  return type.replace(/^task\./, "");
}

export function EndpointFieldset(
  { fields, error, webhooks: { retrySeconds, timeoutSeconds } }: {
    fields: Record<string, string>;
    error?: FormError | undefined;
    webhooks: Config["webhooks"];
  },
) {
  const retriesFor = retrySeconds.reduce((sum, seconds) => sum + seconds, 0);
  const errorOf = (field: string) => messageAt(error, field);
  return (
    <>
      <Field
        name="url"
        label="Endpoint URL"
        type="url"
        placeholder="https://example.com/webhooks"
        hint={`A public https URL. Respond with 2xx within ${
          formatRoundDuration(timeoutSeconds)
        }; failed deliveries are retried for ${formatRoundDuration(retriesFor)}.`}
        value={fields.url}
        error={errorOf("url") ?? messageAt(error, null)}
        {...endpointForm.limits("url")}
      />
      <Field
        name="description"
        label="Description"
        value={fields.description}
        error={errorOf("description")}
        {...endpointForm.limits("description")}
      />
      <fieldset class="checks">
        <legend>Events (none selected: all)</legend>
        {EVENT_TYPES.map((type) => (
          <label class="check">
            <input type="checkbox" name={type} checked={fields[type] !== undefined} />
            <span>{type}</span>
          </label>
        ))}
      </fieldset>
    </>
  );
}
