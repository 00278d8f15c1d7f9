import { findDelivery, type WebhookAttempt } from "../../domain/webhooks/deliveries.ts";
import { redeliver } from "../../domain/webhooks/redeliver.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Form, Notice } from "../parts.tsx";
import { seeOtherWith } from "../respond.ts";
import { DeliveryState } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { ago, formatCount, moment, plural } from "./format.ts";
import { Head, sendConsole } from "./shell.tsx";

const PATH = "/console/webhooks";
/** A delivery that was just begun is looked at again by the page itself, for so long. */
const FRESH_SECONDS = 30;

/** GET /console/webhooks/deliveries/{id}: what was sent, and every answer. */
export function deliveryPage({ database }: ConsoleDeps) {
  return async function deliveryPage(c: SiteContext): Promise<Response> {
    const delivery = await findDelivery(
      database.sql,
      c.req.param("id") ?? "",
      personOf(c).account,
    );
    const isFresh = delivery.status === "pending" && delivery.attempt_count === 0 &&
      Date.now() / 1000 - delivery.created < FRESH_SECONDS;
    return sendConsole(
      c,
      { section: "webhooks", title: "Delivery", scripts: isFresh ? ["refresh"] : [] },
      <>
        <nav class="crumbs" aria-label="You are here">
          <a href={delivery.endpoint === null ? PATH : `${PATH}/${delivery.endpoint}`}>
            {delivery.endpoint === null ? "Webhooks" : "Endpoint"}
          </a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              {delivery.event.type} <DeliveryState status={delivery.status} />
            </span>
          }
          note={<span class="break">To {delivery.url}</span>}
        >
          <Form c={c} action={`${PATH}/deliveries/${delivery.id}/redeliver`} class="">
            <button type="submit" class="button">Send it again</button>
          </Form>
        </Head>
        {delivery.status === "failed" && (
          <Notice kind="bad">
            Given up{delivery.reason !== null && (
              <>: {REASONS[delivery.reason] ?? delivery.reason}</>
            )}.
          </Notice>
        )}
        {delivery.next_attempt_at !== null && delivery.attempt_count > 0 && (
          <Notice kind="info">
            Tried again {ago(delivery.next_attempt_at)}, at {moment(delivery.next_attempt_at)}.
          </Notice>
        )}
        <section class="card stack">
          <h2 class="card-title">{plural(delivery.attempts.length, "attempt")}</h2>
          {delivery.attempts.length === 0
            ? (
              <p class="soft">
                It is on its way. <a href={`${PATH}/deliveries/${delivery.id}`}>Look again</a>
              </p>
            )
            : delivery.attempts.toReversed().map((attempt) => <Attempt attempt={attempt} />)}
        </section>
        <section class="card stack">
          <h2 class="card-title">What was sent</h2>
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
      </>,
    );
  };
}

/** POST /console/webhooks/deliveries/{id}/redeliver */
export function redeliverPage({ webhooks }: ConsoleDeps) {
  return async function redeliverPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    await redeliver(webhooks, id, personOf(c).account);
    return seeOtherWith(c, `${PATH}/deliveries/${id}`, "good", "It is sent again.");
  };
}

const REASONS: Readonly<Record<string, string>> = {
  endpoint_disabled: "the endpoint is disabled",
  endpoint_deleted: "the endpoint was deleted",
  retries_spent: "every attempt failed",
  gone: "the receiver answered 410",
};

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const isGood = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
  return (
    <div class="attempt">
      <div class="row-between">
        <span class={`strong ${isGood ? "good" : "bad"}`}>
          {attempt.status ?? "No answer"}
          {attempt.error !== null && <span class="soft">: {attempt.error}</span>}
        </span>
        <span class="small faint">
          {moment(attempt.started_at)}, {formatCount(attempt.latency_ms)} ms
        </span>
      </div>
      {attempt.response !== null && attempt.response !== "" && (
        <pre
          tabindex={0}
          role="region"
          aria-label={`Answer to attempt ${attempt.number}`}
        ><code>{attempt.response}</code></pre>
      )}
    </div>
  );
}
