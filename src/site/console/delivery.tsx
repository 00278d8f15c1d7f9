import { findDelivery, type WebhookAttempt } from "../../domain/webhooks/deliveries.ts";
import { audited } from "../../domain/audit/audit.ts";
import { repeatDelivery } from "../../workflows/accounts/manage_webhooks.ts";
import { memberOf } from "../actor.ts";
import { personOf, type SiteContext } from "../context.ts";
import { formatCount, plural } from "../format.ts";
import { Form, Notice } from "../parts.tsx";
import { seeOtherWith } from "../respond.ts";
import { Time } from "../time.tsx";
import { DeliveryStatus } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { Head, sendConsole } from "./shell.tsx";

const PATH = "/console/webhooks";
/** The page of a new delivery reloads itself for this long. */
const RELOAD_SECONDS = 30;

/** GET /console/webhooks/deliveries/{id}: the payload, and every attempt. */
export function deliveryPage({ database }: ConsoleDeps) {
  return async function deliveryPage(c: SiteContext): Promise<Response> {
    const delivery = await findDelivery(
      database.sql,
      c.req.param("id") ?? "",
      personOf(c).account,
    );
    const isNew = delivery.status === "pending" && delivery.attempt_count === 0 &&
      Date.now() / 1000 - delivery.created < RELOAD_SECONDS;
    return sendConsole(
      c,
      { section: "webhooks", title: "Delivery", scripts: isNew ? ["refresh"] : [] },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={delivery.endpoint === null ? PATH : `${PATH}/${delivery.endpoint}`}>
            {delivery.endpoint === null ? "Webhooks" : "Endpoint"}
          </a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              {delivery.event.type} <DeliveryStatus status={delivery.status} />
            </span>
          }
          note={<span class="break">To {delivery.url}</span>}
        >
          <Form c={c} action={`${PATH}/deliveries/${delivery.id}/redeliver`} class="">
            <button type="submit" class="button">Redeliver</button>
          </Form>
        </Head>
        <DeliveryNotice delivery={delivery} />
        <AttemptsCard delivery={delivery} />
        <PayloadCard delivery={delivery} />
      </>,
    );
  };
}

/** POST /console/webhooks/deliveries/{id}/redeliver */
export function redeliverPage(deps: ConsoleDeps) {
  return async function redeliverPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const own = { account: personOf(c).account, id };
    await audited(deps, memberOf(c), (change) => repeatDelivery(change, deps.webhooks, own));
    return seeOtherWith(c, `${PATH}/deliveries/${id}`, "good", "Redelivery queued.");
  };
}

type Delivery = Awaited<ReturnType<typeof findDelivery>>;

/** Why the delivery failed, or when it is attempted again. */
function DeliveryNotice({ delivery }: { delivery: Delivery }) {
  return (
    <>
      {delivery.status === "failed" && (
        <Notice kind="bad">
          {REASONS[delivery.reason ?? ""] ?? "The delivery failed."}
        </Notice>
      )}
      {delivery.next_attempt_at !== null && delivery.attempt_count > 0 && (
        <Notice kind="info">
          Next attempt <Time at={delivery.next_attempt_at} as="relative" />, at{" "}
          <Time at={delivery.next_attempt_at} />.
        </Notice>
      )}
    </>
  );
}

function AttemptsCard({ delivery }: { delivery: Delivery }) {
  return (
    <section class="card stack">
      <h2 class="card-title">{plural(delivery.attempts.length, "attempt")}</h2>
      {delivery.attempts.length === 0
        ? (
          <p class="soft">
            Not sent yet. <a href={`${PATH}/deliveries/${delivery.id}`}>Refresh</a>
          </p>
        )
        : delivery.attempts.toReversed().map((attempt) => <Attempt attempt={attempt} />)}
    </section>
  );
}

function PayloadCard({ delivery }: { delivery: Delivery }) {
  return (
    <section class="card stack">
      <h2 class="card-title">Payload</h2>
      <dl class="facts facts-tight">
        <dt>webhook-id</dt>
        <dd class="mono">{delivery.event.id}</dd>
        {delivery.event.task_id !== null && delivery.event.type !== "webhook.test" && (
          <>
            <dt>Task</dt>
            <dd>
              <a class="mono" href={`/console/tasks/${delivery.event.task_id}`}>
                {delivery.event.task_id}
              </a>
            </dd>
          </>
        )}
      </dl>
      <pre
        class="body-box"
        tabindex={0}
        role="region"
        aria-label="Payload"
      ><code>{JSON.stringify(delivery.payload, null, 2)}</code></pre>
    </section>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  endpoint_disabled: "The endpoint is disabled.",
  endpoint_deleted: "The endpoint was deleted.",
  retries_spent: "All attempts failed.",
  gone: "The receiver responded with status 410 (gone).",
};

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const isGood = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
  return (
    <div class="attempt">
      <div class="row-between">
        <span class={`strong ${isGood ? "good" : "bad"}`}>
          {attempt.status ?? "No response"}
          {attempt.error !== null && <span class="soft">: {attempt.error}</span>}
        </span>
        <span class="small faint">
          <Time at={attempt.started_at} />, {formatCount(attempt.latency_ms)} ms
        </span>
      </div>
      {attempt.response !== null && attempt.response !== "" && (
        <pre
          tabindex={0}
          role="region"
          aria-label={`Response to attempt ${attempt.number}`}
        ><code>{attempt.response}</code></pre>
      )}
    </div>
  );
}
