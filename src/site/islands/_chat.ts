import { faultOf, field, notice, send, setBusy, textsOf } from "./_form.ts";

interface Message {
  role: "user" | "assistant";
  content: string;
}

/** A conversation on the page: what is said goes out, and the answer is written as it comes. */
export function startChat(form: HTMLFormElement): void {
  const log = form.querySelector<HTMLElement>("[data-conversation]")!;
  const empty = log.querySelector<HTMLElement>(".conversation-empty")!;
  const history = field(form, "history");
  const prompt = field(form, "prompt");
  let stop = new AbortController();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.hasAttribute("aria-busy")) void talk();
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

  async function talk(): Promise<void> {
    const said = prompt.value.trim();
    if (said === "") return;
    const texts = textsOf(form);
    stop = new AbortController();
    setBusy(form, true);
    empty.hidden = true;
    log.append(bubble("user", said));
    const answer = bubble("assistant", "");
    answer.classList.add("is-writing");
    log.append(answer);
    prompt.value = "";
    log.scrollTop = log.scrollHeight;
    const written = answer.querySelector<HTMLElement>(".said-text")!;
    const fault = await write(texts, written, stop.signal);
    answer.classList.remove("is-writing");
    if (fault !== null) log.append(notice(fault));
    if (written.textContent === "") {
      answer.remove();
      // Nothing came: what was said stays with its writer.
      if (fault !== null && prompt.value === "") prompt.value = said;
    } else remember(said, written.textContent ?? "");
    log.scrollTop = log.scrollHeight;
    setBusy(form, false);
    form.dispatchEvent(new Event("quote"));
    prompt.focus();
  }

  /** Writes an answer as it comes; resolves to what went wrong, if anything did. */
  async function write(
    texts: URLSearchParams,
    written: HTMLElement,
    signal: AbortSignal,
  ): Promise<string | null> {
    try {
      const answer = await send(form, form.action, texts, signal);
      if (!answer.ok || answer.body === null) return await faultOf(answer);
      if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
        const { choices } = await answer.json();
        written.textContent = choices[0].message.content;
        return null;
      }
      for await (const event of eventsOf(answer.body)) {
        if (event === "[DONE]") return null;
        const { choices, error } = JSON.parse(event);
        if (error !== undefined) return error.message;
        const nearEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
        written.append(choices[0]?.delta?.content ?? "");
        if (nearEnd) log.scrollTop = log.scrollHeight;
      }
      return "The answer broke off: try again.";
    } catch (error) {
      return signal.aborted ? null : `The answer did not come through: ${(error as Error).message}`;
    }
  }

  function remember(said: string, answered: string): void {
    const before = JSON.parse(history.value || "[]") as Message[];
    history.value = JSON.stringify([
      ...before,
      { role: "user", content: said },
      { role: "assistant", content: answered },
    ]);
  }
}

function bubble(role: Message["role"], text: string): HTMLElement {
  const said = document.createElement("div");
  said.className = `said said-${role}`;
  const who = document.createElement("span");
  who.className = "sr-only";
  who.textContent = role === "user" ? "You:" : "Model:";
  const words = document.createElement("div");
  words.className = "said-text";
  words.textContent = text;
  said.append(who, words);
  return said;
}

/** The data of every event, as they arrive. */
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
    void reader.cancel().catch(() => undefined);
  }
}
