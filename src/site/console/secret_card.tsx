import type { WebhookSecret } from "../../domain/webhooks/secrets.ts";
import { CopyButton } from "../parts.tsx";
import { date, moment } from "./format.ts";

/** What events are signed with. */
export function SecretCard({ secret }: { secret: WebhookSecret }) {
  return (
    <section class="card stack">
      <h2 class="card-title">Signing secret</h2>
      <p class="soft">
        Check every event with it before you believe it: the <code>standardwebhooks</code>{" "}
        package does that in one call.
      </p>
      <div class="secret">
        <code id="webhook-secret" aria-label="Signing secret">{secret.secret}</code>
        <CopyButton target="#webhook-secret" />
      </div>
      <p class="small faint">In use since {date(secret.created)}.</p>
      {secret.previous.length > 0 && (
        <div class="stack-s">
          <h3>Still signing beside it</h3>
          <ul class="plain-list small">
            {secret.previous.map(({ secret, expires_at }) => (
              <li>
                <code>{secret}</code> <span class="faint">until {moment(expires_at)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
