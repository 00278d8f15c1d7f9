import { ApiError } from "../../lib/api_error.ts";
import { checkUrlResolves } from "../../platform/outbound/check_url.ts";
import { DELIVERY_STATES, listDeliveries } from "../../domain/webhooks/deliveries.ts";
import {
  createEndpoint,
  listEndpoints,
  type WebhookEndpoint,
} from "../../domain/webhooks/endpoints.ts";
import { TASK_EVENTS, type TaskEvent } from "../../domain/webhooks/event.ts";
import { revealSecret } from "../../domain/webhooks/secrets.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { Badge, Empty, Field, Form } from "../parts.tsx";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { date } from "./format.ts";
import { SecretCard } from "./secret_card.tsx";
import { ChoiceLinks, Head, Pager, sendConsole, TableCard } from "./shell.tsx";

export const WEBHOOKS = "/console/webhooks";
const PAGE = 20;

interface Shown {
  fields?: Record<string, string>;
  fault?: string;
}

/** GET /console/webhooks: where events go, and how the last ones fared. */
export function webhooksPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendWebhooks(deps, c);
}

/** POST /console/webhooks: a new endpoint; its secret is on the page that answers. */
export function createWebhookPage(deps: ConsoleDeps) {
  return async function createWebhookPage(c: SiteContext): Promise<Response> {
    const { account } = personOf(c);
    const { sql, secretBox } = deps.webhooks;
    const fields = await readSiteForm(c);
    try {
      const wanted = readEndpoint(fields);
      await checkUrlResolves(wanted.url, c.env.config.outbound, "url");
      const endpoint = await createEndpoint(sql, secretBox, account, wanted);
      const secret = await revealSecret(sql, secretBox, { account, endpoint: endpoint.id });
      return sendConsole(
        c,
        { section: "webhooks", title: "New endpoint" },
        <>
          <Head title="The endpoint is there" note={<span class="break">{endpoint.url}</span>} />
          <SecretCard secret={secret} />
          <div class="row">
            <a class="button button-primary" href={`${WEBHOOKS}/${endpoint.id}`}>
              Go on to the endpoint
            </a>
          </div>
        </>,
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.isServerError) throw error;
      return await sendWebhooks(deps, c, { fields, fault: error.message });
    }
  };
}

/** What a form says about an endpoint. No type ticked means all of them. */
export function readEndpoint(
  fields: Record<string, string>,
): { url: string; description: string; event_types: TaskEvent[] | undefined } {
  const url = (fields.url ?? "").trim();
  if (url === "") throw new ApiError("missing_field", "Say where events go: an https address.");
  const description = (fields.description ?? "").trim();
  if (description.length > 200) {
    throw new ApiError("invalid_value", "A description has 200 characters at the most.");
  }
  const types = TASK_EVENTS.filter((type) => fields[type] !== undefined);
  return { url, description, event_types: types.length === 0 ? undefined : types };
}

async function sendWebhooks(
  { database }: ConsoleDeps,
  c: SiteContext,
  { fields = {}, fault }: Shown = {},
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
    { section: "webhooks", title: "Webhooks", status: fault === undefined ? 200 : 400 },
    <>
      <Head
        title="Webhooks"
        note="When a task ends, an event is sent to each of your endpoints, signed by the Standard Webhooks rules."
      >
        <a class="button" href={`${WEBHOOKS}/callback-secret`}>Secret of callback_url</a>
      </Head>
      {!isNew && (
        <TableCard columns={["Endpoint", "Events", "State", "Since"]}>
          {endpoints.data.map((endpoint) => <EndpointRow endpoint={endpoint} />)}
        </TableCard>
      )}
      <details class="disclosure" open={isNew || fault !== undefined}>
        <summary>New endpoint</summary>
        <Form c={c} action={WEBHOOKS}>
          <EndpointFieldset fields={fields} fault={fault} />
          <div>
            <button type="submit" class="button button-primary">Create endpoint</button>
          </div>
        </Form>
      </details>
      {deliveries.data.length === 0 && status === undefined
        ? (
          <section class="card">
            <Empty title="No delivery yet">
              <p>Every attempt is kept here, with what the receiver answered.</p>
            </Empty>
          </section>
        )
        : (
          <DeliveryTable
            title="Deliveries"
            deliveries={deliveries.data}
            head={
              <ChoiceLinks
                label="State of deliveries"
                name="status"
                options={[["", "All"], ...DELIVERY_STATES.map((each) => [each, each] as const)]}
                value={status ?? ""}
                path={WEBHOOKS}
                query={{}}
              />
            }
            foot={
              <Pager
                path={WEBHOOKS}
                query={{ status, after }}
                lastId={deliveries.data.at(-1)?.id}
                hasMore={deliveries.hasMore}
              />
            }
          />
        )}
    </>,
  );
}

function EndpointRow({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, url, description, event_types: types } = endpoint;
  return (
    <tr>
      <td data-label="Endpoint">
        <span>
          <a class="break strong" href={`${WEBHOOKS}/${id}`}>{url}</a>
          {description !== "" && <span class="small faint account-id">{description}</span>}
        </span>
      </td>
      <td data-label="Events">
        {types.length === TASK_EVENTS.length ? "all" : types.map(shortType).join(", ")}
      </td>
      <td data-label="State">
        <EndpointState endpoint={endpoint} />
      </td>
      <td data-label="Since" class="nowrap">{date(endpoint.created)}</td>
    </tr>
  );
}

export function EndpointState({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (endpoint.status === "disabled") return <Badge kind="bad">disabled</Badge>;
  return endpoint.failing_since === null
    ? <Badge kind="good" dot>enabled</Badge>
    : <Badge kind="warn" dot>failing</Badge>;
}

function shortType(type: string): string {
  return type.replace(/^task\./, "");
}

export function EndpointFieldset(
  { fields, fault }: { fields: Record<string, string>; fault?: string | undefined },
) {
  return (
    <>
      <Field
        name="url"
        label="Address"
        type="url"
        placeholder="https://example.com/tollgate"
        hint="Public https. Answer 2xx within 15 seconds; anything else is tried again for three days."
        value={fields.url}
        fault={fault}
        required
        maxlength={2048}
      />
      <Field name="description" label="Description" value={fields.description} maxlength={200} />
      <fieldset class="checks">
        <legend>Events (none ticked means all)</legend>
        {TASK_EVENTS.map((type) => (
          <label class="check">
            <input type="checkbox" name={type} checked={fields[type] !== undefined} />
            <span>{type}</span>
          </label>
        ))}
      </fieldset>
    </>
  );
}
