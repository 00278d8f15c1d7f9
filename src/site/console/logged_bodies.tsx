import type { LoggedBodies, LoggedBody } from "../../domain/requests/body_log.ts";
import { formatCount } from "../format.ts";

/** The bodies of a request, where they are kept. */
export function BodyCards({ bodies }: { bodies: LoggedBodies | null }) {
  if (bodies === null) return null;
  return (
    <>
      {bodies.request !== null && <BodyCard title="Request body" body={bodies.request} />}
      {bodies.response !== null && <BodyCard title="Response body" body={bodies.response} />}
    </>
  );
}

function BodyCard({ title, body }: { title: string; body: LoggedBody }) {
  const size = `${formatCount(body.bytes)} bytes`;
  return (
    <section class="card stack">
      <div class="row-between">
        <h2 class="card-title">{title}</h2>
        <span class="faint small">{body.truncated ? `Beginning of ${size}` : size}</span>
      </div>
      {body.text === null
        ? <p class="faint">Sealed with a key that this gateway no longer has.</p>
        : (
          <pre class="body-box" tabindex={0} role="region" aria-label={title}>
            <code>{readable(body)}</code>
          </pre>
        )}
    </section>
  );
}

/** Whole JSON is indented; anything else, such as a stream, is shown as it was sent. */
function readable({ text, truncated }: LoggedBody): string {
  if (truncated) return text!;
  try {
    return JSON.stringify(JSON.parse(text!), null, 2);
  } catch {
    // Not JSON.
    return text!;
  }
}
