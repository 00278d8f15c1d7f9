import type { WebhookSecret } from "../../domain/webhooks/secrets.ts";
import { Time } from "../time.tsx";
import { SecretText } from "./secret_text.tsx";

/** The secret that events are signed with. */
export function SecretCard({ secret }: { secret: WebhookSecret }) {
  return (
    <section class="card stack">
      <h2 class="card-title">Signing secret</h2>
      <p class="soft">
        Verify every event with this secret. The <code>standardwebhooks</code>{" "}
        package does it in one call.
      </p>
      <SecretText id="webhook-secret" label="Signing secret" text={secret.secret} />
      <p class="small faint">
        Created <Time at={secret.created} as="date" />
      </p>
      {secret.previous.length > 0 && (
        <div class="stack-s">
          <h3>Previous secrets, still valid</h3>
          <ul class="plain-list small">
            {secret.previous.map(({ secret, expires_at }) => (
              <li>
                <code>{secret}</code>{" "}
                <span class="faint">
                  until <Time at={expires_at} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
