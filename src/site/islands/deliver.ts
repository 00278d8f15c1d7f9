/**
 * Delivers the key to the program on this computer. The response to the form is a redirect to the program's
 * URL; `fetch` follows it, and since the response is opaque this script never sees the key.
 */
const page = document.querySelector<HTMLElement>("#delivery");
const form = page?.querySelector<HTMLFormElement>("form[data-deliver]");

/** A browser may ask for permission first. After this time the page offers the button. */
const TIMEOUT_MS = 12_000;

function show(state: "sending" | "sent" | "failed" | "late"): void {
  for (const part of page!.querySelectorAll<HTMLElement>("[data-state]")) {
    part.hidden = part.dataset.state !== state;
  }
  page!.dataset.is = state;
}

async function deliver(form: HTMLFormElement): Promise<void> {
  show("sending");
  const timeout = setTimeout(() => show("failed"), TIMEOUT_MS);
  const body = new URLSearchParams({ way: "quiet" });
  for (const [name, value] of new FormData(form)) body.set(name, String(value));
  try {
    const response = await fetch(form.action, {
      method: "POST",
      mode: "no-cors",
      body,
      credentials: "same-origin",
      cache: "no-store",
    });
    // Opaque: the program responded. Any other response is ours: the grant has expired.
    show(response.type === "opaque" ? "sent" : "late");
  } catch (error) {
    // `fetch` rejects with a TypeError where nothing listens or the browser blocks it.
    if (!(error instanceof TypeError)) throw error;
    show("failed");
  } finally {
    clearTimeout(timeout);
  }
}

if (page && form) {
  void deliver(form);
  const left = Number(page.dataset.seconds) * 1000;
  setTimeout(() => {
    const button = form.querySelector("button");
    if (button !== null) button.disabled = true;
    if (page.dataset.is !== "sent") show("late");
  }, left);
}

export {};
