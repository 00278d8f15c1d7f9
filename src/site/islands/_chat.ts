import { clearError, errorOf, field, notice, send, setBusy, textsOf } from "./_form.ts";

interface Message {
  role: "user" | "assistant";
  content: string;
}

/** A conversation on the page. Responses are written as they stream in. */
export function startChat(form: HTMLFormElement): void {
  const log = form.querySelector<HTMLElement>("[data-conversation]")!;
  const empty = log.querySelector<HTMLElement>(".conversation-empty")!;
  const history = field(form, "history");
  const prompt = field(form, "prompt");
  let stop = new AbortController();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.hasAttribute("aria-busy")) void submit();
  });
  prompt.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.querySelector("[data-stop]")?.addEventListener("click", () => stop.abort());
  form.querySelector("[data-clear]")?.addEventListener("click", () => {
    stop.abort();
    history.value = "[]";
    log.replaceChildren(empty);
    empty.hidden = false;
    prompt.focus();
  });

  async function submit(): Promise<void> {
    const text = prompt.value.trim();
    if (text === "") return;
    const texts = textsOf(form);
    stop = new AbortController();
    setBusy(form, true);
    clearError(form);
    for (const old of log.querySelectorAll(".notice")) old.remove();
    empty.hidden = true;
    const sent = bubble("user", text);
    const answer = bubble("assistant", "");
    answer.classList.add("is-streaming");
    log.append(sent, answer);
    prompt.value = "";
    log.scrollTop = log.scrollHeight;
    const target = answer.querySelector<HTMLElement>(".message-text")!;
    const error = await writeResponse(form, texts, { log, target, signal: stop.signal });
    answer.classList.remove("is-streaming");
    if (error !== null) log.append(notice(error));
    if (target.textContent === "") {
      // Without a response the message is not part of the conversation: it goes back to the input.
      answer.remove();
      sent.remove();
      if (prompt.value === "") prompt.value = text;
    } else remember(history, text, target.textContent ?? "");
    log.scrollTop = log.scrollHeight;
    setBusy(form, false);
    form.dispatchEvent(new Event("quote"));
    prompt.focus();
  }
}

/** Writes a response as it streams in. Resolves to the error message, or to null. */
async function writeResponse(
  form: HTMLFormElement,
  texts: URLSearchParams,
  { log, target, signal }: { log: HTMLElement; target: HTMLElement; signal: AbortSignal },
): Promise<string | null> {
  try {
    const response = await send(form, form.action, texts, signal);
    if (!response.ok || response.body === null) return await errorOf(form, response);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      const { choices } = await response.json();
      target.textContent = choices[0].message.content;
      return null;
    }
    for await (const event of eventsOf(response.body)) {
      if (event === "[DONE]") return null;
      const { choices, error } = JSON.parse(event);
      if (error !== undefined) return error.message;
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
      target.append(choices[0]?.delta?.content ?? "");
      if (isAtEnd) log.scrollTop = log.scrollHeight;
    }
    return "The response was interrupted. Please try again.";
  } catch (error) {
    return signal.aborted ? null : `The request failed: ${(error as Error).message}`;
  }
}

/** Adds a message and its response to the conversation that the form sends. */
function remember(history: HTMLInputElement, text: string, response: string): void {
  const before = JSON.parse(history.value || "[]") as Message[];
  history.value = JSON.stringify([
    ...before,
    { role: "user", content: text },
    { role: "assistant", content: response },
  ]);
}

function bubble(role: Message["role"], text: string): HTMLElement {
  const message = document.createElement("div");
  message.className = `message message-${role}`;
  const author = document.createElement("span");
  author.className = "sr-only";
  author.textContent = role === "user" ? "You:" : "Model:";
  const content = document.createElement("div");
  content.className = "message-text";
  content.textContent = text;
  message.append(author, content);
  return message;
}

/** The data of server-sent events, as they arrive. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const events = rest.split("\n\n");
      rest = events.pop()!;
      for (const event of events) if (event.startsWith("data: ")) yield event.slice(6);
    }
  } finally {
    // Rejects where the stream has failed already, which the caller has seen.
    void reader.cancel().catch(() => undefined);
  }
}
