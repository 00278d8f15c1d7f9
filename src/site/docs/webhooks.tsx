import type { SiteContext } from "../context.ts";
import { CodeBox } from "../parts.tsx";
import { sendDocs } from "./shell.tsx";

/** GET /docs/webhooks: being told, and knowing that it is true. */
export function webhooksGuide(c: SiteContext): Response {
  return sendDocs(
    c,
    { title: "Webhooks" },
    <>
      <section>
        <h1>Webhooks</h1>
        <p class="soft">
          When a task has ended, an event is sent to the request's{" "}
          <code>callback_url</code>, else to the endpoints of your account. There is one event per
          task: <code>task.succeeded</code>, <code>task.failed</code>, <code>task.cancelled</code>
          {" "}
          or <code>task.expired</code>.
        </p>
      </section>
      <section aria-labelledby="verify">
        <h2 id="verify">Verify it</h2>
        <p>
          Anybody can send to your address; only we can sign. Events follow{" "}
          <a href="https://www.standardwebhooks.com">Standard Webhooks</a>, so its libraries do the
          checking. Verify the bytes as they came, before parsing: JSON that was written again has
          another signature.
        </p>
        <CodeBox
          id="webhook-ts"
          title="TypeScript: npm install standardwebhooks"
          text={`import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.TOLLGATE_WEBHOOK_SECRET!); // whsec_…

export async function POST(request: Request) {
  const body = await request.text();
  const event = webhook.verify(body, Object.fromEntries(request.headers));
  // Answer first, work later: 2xx within 15 seconds counts as received.
  queueMicrotask(() => handle(event));
  return new Response(null, { status: 204 });
}`}
        />
        <CodeBox
          id="webhook-py"
          title="Python: pip install standardwebhooks"
          text={`import os
from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["TOLLGATE_WEBHOOK_SECRET"])  # whsec_…

@app.post("/webhooks")
def receive():
    event = webhook.verify(request.get_data(), dict(request.headers))
    handle_later(event)
    return "", 204`}
        />
      </section>
      <section aria-labelledby="care">
        <h2 id="care">What to take care of</h2>
        <ul class="prose-list">
          <li>
            An event can come twice: remember the <code>id</code> you have handled.
          </li>
          <li>
            Events can overtake each other: compare <code>created</code>.
          </li>
          <li>
            The payload is thin. Ask for the task when you need more, with{" "}
            <code>GET /v1/tasks/{"{task_id}"}</code>.
          </li>
          <li>
            Redirects are failures, 410 ends the delivery, <code>Retry-After</code>{" "}
            is honoured. Retries go on for about three days; then it can be sent again from the
            console.
          </li>
          <li>While a secret is rotated both sign, for a day.</li>
        </ul>
      </section>
    </>,
  );
}
