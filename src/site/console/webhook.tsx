import { ApiError } from "../../lib/api_error.ts";
import { listDeliveries } from "../../domain/webhooks/deliveries.ts";
import { audited, type AuditedChange } from "../../domain/audit/audit.ts";
import { findEndpoint, type WebhookEndpoint } from "../../domain/webhooks/endpoints.ts";
import { EVENT_TYPES } from "../../domain/webhooks/event.ts";
import { checkUrlResolves } from "../../platform/outbound/check_url.ts";
import {
  editEndpoint,
  repeatToEndpoint,
  switchEndpoint,
  testEndpoint,
} from "../../workflows/accounts/manage_webhooks.ts";
import { memberOf } from "../actor.ts";
import { personOf, type SiteContext } from "../context.ts";
import { readSiteForm } from "../form.ts";
import { type FormError, toFormError } from "../form_error.ts";
import { plural } from "../format.ts";
import { ConfirmForm, Empty, Form, Notice } from "../parts.tsx";
import { seeOther, seeOtherWith } from "../respond.ts";
import { Time } from "../time.tsx";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { Head, Pager, sendConsole } from "./shell.tsx";
import {
  ENDPOINT_LABELS,
  EndpointFieldset,
  EndpointStatus,
  readEndpoint,
  WEBHOOKS,
} from "./webhooks.tsx";

const PAGE = 20;

/** GET /console/webhooks/{id} */
export function webhookPage(deps: ConsoleDeps) {
  return (c: SiteContext) => sendWebhook(deps, c);
}

/** POST /console/webhooks/{id}: changes URL, description and events. */
export function updateWebhook(deps: ConsoleDeps) {
  return async function updateWebhook(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const fields = await readSiteForm(c);
    try {
      const { outbound } = c.env.config;
      const own = { account: personOf(c).account, id };
      const wanted = readEndpoint(fields);
      await checkUrlResolves(wanted.url, outbound, "url");
      await audited(deps, memberOf(c), (change) => editEndpoint(change, own, wanted));
      return seeOtherWith(c, `${WEBHOOKS}/${id}`, "good", "Endpoint saved.");
    } catch (error) {
      if (error instanceof ApiError && error.kind === "not_found") throw error;
      const formError = toFormError(error, ENDPOINT_LABELS);
      return await sendWebhook(deps, c, { fields, error: formError });
    }
  };
}

type EndpointAction = (
  change: AuditedChange,
  deps: ConsoleDeps,
  own: { account: string; id: string },
) => Promise<[path: string, message: string]>;

const pathOf = (id: string) => `${WEBHOOKS}/${id}`;

/** Actions on an endpoint, by the last part of their path. */
const ACTIONS: Readonly<Record<string, EndpointAction>> = {
  async enable(change, _deps, own) {
    await switchEndpoint(change, own, "enable");
    return [pathOf(own.id), "Endpoint enabled."];
  },
  async disable(change, _deps, own) {
    await switchEndpoint(change, own, "disable");
    return [pathOf(own.id), "Endpoint disabled."];
  },
  async delete(change, _deps, own) {
    await switchEndpoint(change, own, "delete");
    return [WEBHOOKS, "Endpoint deleted."];
  },
  async redeliver(change, { webhooks, configStore }, { account, id }) {
    const { webhookDays } = configStore.current.storage.keep;
    const since = new Date(Date.now() - webhookDays * 86_400_000);
    const sent = await repeatToEndpoint(change, webhooks, { account, endpoint: id, since });
    return [
      pathOf(id),
      sent === 0
        ? "No failed deliveries."
        : `${plural(sent, "redelivery", "redeliveries")} queued.`,
    ];
  },
};

/** POST /console/webhooks/{id}/{action} */
export function runWebhookAction(deps: ConsoleDeps) {
  return async function runWebhookAction(c: SiteContext): Promise<Response> {
    const [id, name] = [c.req.param("id") ?? "", c.req.param("action") ?? ""];
    const own = { account: personOf(c).account, id };
    if (name === "test") {
      const { id: delivery } = await audited(
        deps,
        memberOf(c),
        (change) => testEndpoint(change, deps.webhooks, own),
      );
      return seeOther(`${WEBHOOKS}/deliveries/${delivery}`);
    }
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : null;
    if (action === null) return await c.notFound();
    const [path, message] = await audited(
      deps,
      memberOf(c),
      (change) => action(change, deps, own),
    );
    return seeOtherWith(c, path, "good", message);
  };
}

async function sendWebhook(
  { database }: ConsoleDeps,
  c: SiteContext,
  { fields, error }: { fields?: Record<string, string>; error?: FormError } = {},
): Promise<Response> {
  const { account } = personOf(c);
  const { webhooks } = c.env.config;
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
    { section: "webhooks", title: "Webhook endpoint", status: error === undefined ? 200 : 400 },
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href={WEBHOOKS}>Webhooks</a>
      </nav>
      <Head
        title={
          <span class="row-tight">
            Endpoint <EndpointStatus endpoint={endpoint} />
          </span>
        }
        note={<span class="break">{url}</span>}
      >
        <ActionForm c={c} id={id} action="test" name="Send test event" look="button-primary" />
        <a class="button" href={`${WEBHOOKS}/${id}/secret`}>Signing secret</a>
      </Head>
      <StatusNotice endpoint={endpoint} disableAfterDays={webhooks.disableAfterDays} />
      <EndpointDeliveries c={c} id={id} after={after} deliveries={deliveries} />
      <details class="disclosure" open={error !== undefined}>
        <summary>Edit endpoint</summary>
        <Form c={c} action={`${WEBHOOKS}/${id}`}>
          <EndpointFieldset
            fields={fields ?? fieldsOf(endpoint)}
            error={error}
            webhooks={webhooks}
          />
          <div>
            <button type="submit" class="button button-primary">Save</button>
          </div>
        </Form>
      </details>
      <EndpointControls c={c} endpoint={endpoint} />
    </>,
  );
}

/** The deliveries of an endpoint: one page of them. */
function EndpointDeliveries(
  { c, id, after, deliveries: { data, hasMore } }: {
    c: SiteContext;
    id: string;
    after: string | undefined;
    deliveries: Awaited<ReturnType<typeof listDeliveries>>;
  },
) {
  if (data.length === 0) {
    return (
      <section class="card">
        <Empty title="No deliveries yet">
          <p>Send a test event to check your endpoint.</p>
        </Empty>
      </section>
    );
  }
  return (
    <DeliveryTable
      title="Deliveries"
      deliveries={data}
      head={
        <ActionForm
          c={c}
          id={id}
          action="redeliver"
          name={`Redeliver failed (${plural(c.env.config.storage.keep.webhookDays, "day")})`}
          look="button-small"
        />
      }
      foot={
        <Pager
          path={`${WEBHOOKS}/${id}`}
          query={{ after }}
          lastId={data.at(-1)?.id}
          hasMore={hasMore}
        />
      }
    />
  );
}

function EndpointControls({ c, endpoint }: { c: SiteContext; endpoint: WebhookEndpoint }) {
  const { id, status } = endpoint;
  return (
    <div class="row">
      {status === "enabled"
        ? <ActionForm c={c} id={id} action="disable" name="Disable" />
        : <ActionForm c={c} id={id} action="enable" name="Enable" />}
      <ConfirmForm
        c={c}
        action={`${WEBHOOKS}/${id}/delete`}
        button="Delete"
        confirm="Delete endpoint"
      >
        Pending deliveries to this endpoint will be dropped. This cannot be undone.
      </ConfirmForm>
    </div>
  );
}

function fieldsOf({ url, description, event_types: types }: WebhookEndpoint) {
  const all = types.length === EVENT_TYPES.length;
  const ticked = all ? [] : types.map((type) => [type, "on"]);
  return { url, description, ...Object.fromEntries(ticked) };
}

const DISABLED_REASONS: Readonly<Record<string, string>> = {
  owner: "You disabled it.",
  gone: "It responded with status 410 (gone).",
  failing: "All deliveries to it failed for several days.",
};

function StatusNotice(
  { endpoint, disableAfterDays }: { endpoint: WebhookEndpoint; disableAfterDays: number },
) {
  const { disabled_reason: reason, disabled_at: at, failing_since: since } = endpoint;
  if (reason !== null) {
    return (
      <Notice kind="warn" title="This endpoint is disabled.">
        {DISABLED_REASONS[reason]} {at !== null && (
          <>
            (<Time at={at} />){" "}
          </>
        )}
        Enable it when your receiver is ready, then redeliver failed events.
      </Notice>
    );
  }
  if (since === null) return null;
  return (
    <Notice kind="warn">
      Deliveries have been failing since{" "}
      <Time at={since} />. Failed deliveries are retried; the endpoint is disabled after{" "}
      {plural(disableAfterDays, "day")} of failures.
    </Notice>
  );
}

function ActionForm(
  { c, id, action, name, look = "" }: {
    c: SiteContext;
    id: string;
    action: string;
    name: string;
    look?: string;
  },
) {
  return (
    <Form c={c} action={`${WEBHOOKS}/${id}/${action}`} class="">
      <button type="submit" class={`button ${look}`}>{name}</button>
    </Form>
  );
}
