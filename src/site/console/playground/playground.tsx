import type { SiteContext } from "../../context.ts";
import { CsrfField, Notice } from "../../parts.tsx";
import type { Offer } from "../catalogue.ts";
import { type PlaygroundMessage, readHistory } from "./conversation.ts";
import { FORMS } from "./forms.ts";
import type { Fields } from "./fields.ts";

export interface PlaygroundProps {
  c: SiteContext;
  offer: Offer;
  /** The form as it was sent, when the page comes back with an error. */
  fields?: Fields;
  error?: string;
}

/** A form that runs the model. With scripts the response appears as it is made; without, on the next page. */
export function Playground({ c, offer: { details }, fields = {}, error }: PlaygroundProps) {
  const { result, Inputs } = FORMS[details.type];
  const isConversation = result === "message";
  const action = `/console/models/${encodeURIComponent(details.id)}`;
  return (
    <section class="card stack playground" aria-labelledby="playground-title">
      <h2 id="playground-title">Playground</h2>
      <p class="soft small">Runs on your account and is billed like an API request.</p>
      {error && (
        <div data-form-error>
          <Notice kind="bad" role="alert">{error}</Notice>
        </div>
      )}
      <form
        method="post"
        action={`${action}/run`}
        class="form"
        data-playground={result}
        data-quote={`${action}/quote`}
      >
        <CsrfField c={c} />
        {isConversation && <Conversation history={readHistory(fields.history)} />}
        <Inputs details={details} fields={fields} />
        <div class="playground-send">
          <button type="submit" class="button button-primary" data-send>
            {isConversation ? "Send" : "Generate"}
          </button>
          <button type="button" class="button only-scripted" data-stop hidden>Stop</button>
          {isConversation && (
            <button type="button" class="button button-quiet only-scripted" data-clear>
              New conversation
            </button>
          )}
          <p class="small faint numeric playground-quote" data-quoted aria-live="polite"></p>
        </div>
        {(result === "file" || result === "vectors") && (
          <p class="only-unscripted small soft">The result is downloaded as a file.</p>
        )}
      </form>
      {!isConversation && <div class="playground-results" data-results></div>}
    </section>
  );
}

function Conversation({ history }: { history: readonly PlaygroundMessage[] }) {
  return (
    <>
      <input type="hidden" name="history" value={JSON.stringify(history)} autocomplete="off" />
      <div
        class="conversation"
        data-conversation
        role="log"
        aria-label="Conversation"
        tabindex={0}
      >
        {history.map(({ role, content }) => (
          <div class={`message message-${role}`}>
            <span class="sr-only">{role === "user" ? "You" : "Model"}:</span>
            <div class="message-text">{content}</div>
          </div>
        ))}
        <p class="conversation-empty faint" hidden={history.length > 0}>
          Send a message to start.
        </p>
      </div>
    </>
  );
}
