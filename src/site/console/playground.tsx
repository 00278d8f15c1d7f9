import type { SiteContext } from "../context.ts";
import { CsrfField, Notice } from "../parts.tsx";
import type { Offer } from "./catalogue.ts";
import { type Fields, type PlaygroundMessage, readHistory } from "./playground_body.ts";
import { Inputs } from "./playground_inputs.tsx";

export interface PlaygroundProps {
  c: SiteContext;
  offer: Offer;
  /** What was sent, when the page comes back with an answer or a fault. */
  fields?: Fields;
  answer?: string;
  fault?: string;
}

/** A form that calls the model. With scripts the answer comes as it is made; without, as a page. */
export function Playground({ c, offer: { shown }, fields = {}, answer, fault }: PlaygroundProps) {
  const action = `/console/models/${encodeURIComponent(shown.id)}`;
  return (
    <section class="card stack playground" aria-labelledby="playground-title">
      <h2 id="playground-title">Try it</h2>
      <p class="soft small">
        Called as your account, with your limits and prices. It costs what a call of the API costs.
      </p>
      {fault && <Notice kind="bad" role="alert">{fault}</Notice>}
      <form
        method="post"
        action={`${action}/run`}
        class="form"
        data-playground={shown.type}
        data-quote={`${action}/quote`}
      >
        <CsrfField c={c} />
        {shown.type === "chat" && <Conversation history={historyOf(fields, answer)} />}
        <Inputs shown={shown} fields={answer === undefined ? fields : { ...fields, prompt: "" }} />
        <div class="playground-send">
          <button type="submit" class="button button-primary" data-send>
            {shown.type === "chat" ? "Send" : shown.type === "speech" ? "Speak" : "Create"}
          </button>
          <button type="button" class="button only-scripted" data-stop hidden>Stop</button>
          {shown.type === "chat" && (
            <button type="button" class="button button-quiet only-scripted" data-clear>
              New conversation
            </button>
          )}
          <p class="small faint numeric playground-quote" data-quoted aria-live="polite"></p>
        </div>
      </form>
      {shown.type !== "chat" && <div class="playground-results" data-results></div>}
    </section>
  );
}

function historyOf(fields: Fields, answer: string | undefined): PlaygroundMessage[] {
  const said = readHistory(fields.history);
  if (answer === undefined) return said;
  return [...said, { role: "user", content: fields.prompt ?? "" }, {
    role: "assistant",
    content: answer,
  }];
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
          <div class={`said said-${role}`}>
            <span class="sr-only">{role === "user" ? "You" : "Model"}:</span>
            <div class="said-text">{content}</div>
          </div>
        ))}
        <p class="conversation-empty faint" hidden={history.length > 0}>
          Say something to begin.
        </p>
      </div>
    </>
  );
}
