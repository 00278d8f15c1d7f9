/**
 * Hands the key to the program on this computer. The form's answer is a redirect to the program's own
 * address; `fetch` follows it, and because the answer is opaque this script never sees the key.
 */
const page = document.querySelector<HTMLElement>("#delivery");
const form = page?.querySelector<HTMLFormElement>("form[data-deliver]");

/** A browser may ask the person first; after this long the button is the better way. */
const PATIENCE_MS = 12_000;

function show(state: "sending" | "sent" | "failed" | "late"): void {
  for (const part of page!.querySelectorAll<HTMLElement>("[data-state]")) {
    part.hidden = part.dataset.state !== state;
  }
  page!.dataset.is = state;
}

async function deliver(form: HTMLFormElement): Promise<void> {
  show("sending");
  const patience = setTimeout(() => show("failed"), PATIENCE_MS);
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
    // Opaque: the program answered. Anything else came from us: the minute is over.
    show(response.type === "opaque" ? "sent" : "late");
  } catch {
    show("failed");
  } finally {
    clearTimeout(patience);
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
