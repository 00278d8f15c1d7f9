/** The token that shows a request comes from this page. */
export function tokenOf(form: HTMLFormElement): string {
  return field(form, "csrf").value;
}

export function field(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

/** The form's texts; files go another way. */
export function textsOf(form: HTMLFormElement): URLSearchParams {
  const texts = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") texts.append(name, value);
  }
  return texts;
}

export function send(
  form: HTMLFormElement,
  address: string,
  body: BodyInit,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(address, {
    method: "POST",
    body,
    headers: { "x-csrf-token": tokenOf(form), accept: "application/json, text/event-stream, */*" },
    signal,
  });
}

/** What went wrong, in the gateway's words. */
export async function faultOf(answer: Response): Promise<string> {
  try {
    const { error } = await answer.json() as { error: { message: string } };
    return error.message;
  } catch {
    return `The gateway answered ${answer.status}: try again.`;
  }
}

/** Switches between sending and stopping. */
export function setBusy(form: HTMLFormElement, isBusy: boolean): void {
  const [button, stop] = [
    form.querySelector<HTMLButtonElement>("[data-send]"),
    form.querySelector<HTMLButtonElement>("[data-stop]"),
  ];
  if (button !== null) button.disabled = isBusy;
  if (stop !== null) stop.hidden = !isBusy;
  form.toggleAttribute("aria-busy", isBusy);
}

export function notice(text: string): HTMLElement {
  const element = document.createElement("div");
  element.className = "notice notice-bad";
  element.setAttribute("role", "alert");
  element.textContent = text;
  return element;
}
