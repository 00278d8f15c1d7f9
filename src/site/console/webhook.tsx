import { ApiError } from "../../lib/api_error.ts";
import { checkUrlResolves } from "../../platform/outbound/check_url.ts";
import { listDeliveries } from "../../domain/webhooks/deliveries.ts";
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpoint,
  updateEndpoint,
  type WebhookEndpoint,
} from "../../domain/webhooks/endpoints.ts";
import { TASK_EVENTS } from "../../domain/webhooks/event.ts";
import { redeliverFailed, sendTest } from "../../domain/webhooks/redeliver.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { Empty, Form, Notice } from "../parts.tsx";
import { seeOther, seeOtherWith } from "../respond.ts";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { moment, plural } from "./format.ts";
import { Head, Pager, sendConsole } from "./shell.tsx";
import { EndpointFieldset, EndpointState, readEndpoint, WEBHOOKS } from "./webhooks.tsx";

const PAGE = 20;
/** How far back everything that failed is sent again. */
const REDELIVER_DAYS = 7;

/** GET /console/webhooks/{id} */
export function webhookPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendWebhook(deps, c);
}

/** POST /console/webhooks/{id}: changes address, description and events. */
export function updateWebhook(deps: ConsoleDeps) {
  return async function updateWebhook(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const fields = await readSiteForm(c);
    try {
      const wanted = readEndpoint(fields);
      await checkUrlResolves(wanted.url, c.env.config.outbound, "url");
      await updateEndpoint(deps.database.sql, personOf(c).account, id, {
        ...wanted,
        event_types: wanted.event_types ?? [...TASK_EVENTS],
      });
      return seeOtherWith(c, `${WEBHOOKS}/${id}`, "good", "Saved.");
    } catch (error) {
      if (!(error instanceof ApiError) || error.isServerError || error.kind === "not_found") {
        throw error;
      }
      return await sendWebhook(deps, c, { fields, fault: error.message });
    }
  };
}

type Act = (
  deps: ConsoleDeps,
  account: string,
  id: string,
) => Promise<[path: string, said: string]>;

const here = (id: string) => `${WEBHOOKS}/${id}`;

/** What one click does to an endpoint, by the last part of its address. */
const ACTS: Readonly<Record<string, Act>> = {
  async enable({ database }, account, id) {
    await enableEndpoint(database.sql, account, id);
    return [here(id), "Enabled: events are sent to it again."];
  },
  async disable({ database }, account, id) {
    await disableEndpoint(database.sql, account, id);
    return [here(id), "Disabled: nothing is sent to it."];
  },
  async delete({ database }, account, id) {
    await deleteEndpoint(database.sql, account, id);
    return [WEBHOOKS, "The endpoint is deleted."];
  },
  async redeliver({ webhooks, database }, account, id) {
    await findEndpoint(database.sql, account, id);
    const since = new Date(Date.now() - REDELIVER_DAYS * 86_400_000);
    const sent = await redeliverFailed(webhooks, { account, endpoint: id, since });
    return [here(id), sent === 0 ? "Nothing had failed." : `${plural(sent, "event")} sent again.`];
  },
};

/** POST /console/webhooks/{id}/{act} */
export function actOnWebhook(deps: ConsoleDeps) {
  return async function actOnWebhook(c: SiteContext): Promise<Response> {
    const [id, name] = [c.req.param("id") ?? "", c.req.param("act") ?? ""];
    const { account } = personOf(c);
    if (name === "test") {
      const { id: delivery } = await sendTest(deps.webhooks, account, id);
      return seeOther(`${WEBHOOKS}/deliveries/${delivery}`);
    }
    const act = Object.hasOwn(ACTS, name) ? ACTS[name]! : null;
    if (act === null) return await c.notFound();
    const [path, said] = await act(deps, account, id);
    return seeOtherWith(c, path, "good", said);
  };
}

async function sendWebhook(
  { database }: ConsoleDeps,
  c: SiteContext,
  { fields, fault }: { fields?: Record<string, string>; fault?: string } = {},
): Promise<Response> {
  const { account } = personOf(c);
  const { after } = c.req.query();
  const endpoint = await findEndpoint(database.sql, account, c.req.param("id") ?? "");
  const { id, url } = endpoint;
  const deliveries = await listDeliveries(database.sql, {
    account,
    endpoint: id,
    after,
    limit: PAGE,
    order: "desc",
  });
  return sendConsole(
    c,
    { section: "webhooks", title: "Webhook endpoint", status: fault === undefined ? 200 : 400 },
    <>
      <nav class="crumbs" aria-label="You are here">
        <a href={WEBHOOKS}>Webhooks</a>
      </nav>
      <Head
        title={
          <span class="row-tight">
            Endpoint <EndpointState endpoint={endpoint} />
          </span>
        }
        note={<span class="break">{url}</span>}
      >
        <ActForm c={c} id={id} act="test" name="Send a test event" look="button-primary" />
        <a class="button" href={`${WEBHOOKS}/${id}/secret`}>Signing secret</a>
      </Head>
      <StateNotice endpoint={endpoint} />
      {deliveries.data.length === 0
        ? (
          <section class="card">
            <Empty title="Nothing was sent here yet">
              <p>Send a test event to see whether your receiver takes it.</p>
            </Empty>
          </section>
        )
        : (
          <DeliveryTable
            title="Deliveries"
            deliveries={deliveries.data}
            head={
              <ActForm
                c={c}
                id={id}
                act="redeliver"
                name={`Send failed ones again (${REDELIVER_DAYS} days)`}
                look="button-small"
              />
            }
            foot={
              <Pager
                path={`${WEBHOOKS}/${id}`}
                query={{ after }}
                lastId={deliveries.data.at(-1)?.id}
                hasMore={deliveries.hasMore}
              />
            }
          />
        )}
      <details class="disclosure" open={fault !== undefined}>
        <summary>Change it</summary>
        <Form c={c} action={`${WEBHOOKS}/${id}`}>
          <EndpointFieldset fields={fields ?? fieldsOf(endpoint)} fault={fault} />
          <div>
            <button type="submit" class="button button-primary">Save</button>
          </div>
        </Form>
      </details>
      <div class="row">
        {endpoint.status === "enabled"
          ? <ActForm c={c} id={id} act="disable" name="Disable" />
          : <ActForm c={c} id={id} act="enable" name="Enable" />}
        <ActForm
          c={c}
          id={id}
          act="delete"
          name="Delete"
          look="button-danger-quiet"
          confirm="Delete this endpoint? What is on its way to it is given up."
        />
      </div>
    </>,
  );
}

function fieldsOf({ url, description, event_types: types }: WebhookEndpoint) {
  const all = types.length === TASK_EVENTS.length;
  const ticked = all ? [] : types.map((type) => [type, "on"]);
  return { url, description, ...Object.fromEntries(ticked) };
}

const WHY: Readonly<Record<string, string>> = {
  owner: "You disabled it.",
  gone: "It answered 410, which says that it is gone.",
  failing: "Every event failed for days, so it was disabled to spare both sides.",
};

function StateNotice({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { disabled_reason: reason, disabled_at: at, failing_since: since } = endpoint;
  if (reason !== null) {
    return (
      <Notice kind="warn">
        <strong>Nothing is sent to this endpoint.</strong>
        <span>
          {WHY[reason]} {at !== null && `That was on ${moment(at)}. `}
          Enable it when the receiver is ready, then send again what failed.
        </span>
      </Notice>
    );
  }
  if (since === null) return null;
  return (
    <Notice kind="warn">
      It has not taken an event since{" "}
      {moment(since)}. What fails is tried again; an endpoint that fails for days is disabled.
    </Notice>
  );
}

function ActForm(
  { c, id, act, name, look = "", confirm }: {
    c: SiteContext;
    id: string;
    act: string;
    name: string;
    look?: string;
    confirm?: string;
  },
) {
  return (
    <Form c={c} action={`${WEBHOOKS}/${id}/${act}`} class="" data-confirm={confirm}>
      <button type="submit" class={`button ${look}`}>{name}</button>
    </Form>
  );
}
