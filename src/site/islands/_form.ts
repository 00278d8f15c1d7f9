/** The CSRF token of the page. */
export function tokenOf(form: HTMLFormElement): string {
  return field(form, "csrf").value;
}

export function field(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

/** The text fields of a form; files are uploaded on their own. */
export function textsOf(form: HTMLFormElement): URLSearchParams {
  const texts = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") texts.append(name, value);
  }
  return texts;
}

export function send(
  form: HTMLFormElement,
  url: string,
  body: BodyInit,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    body,
    headers: { "x-csrf-token": tokenOf(form), accept: "application/json, text/event-stream, */*" },
    signal,
  });
}

/** The error message of a response, with the label of a field in place of its name in the API. */
export async function errorOf(form: HTMLFormElement, response: Response): Promise<string> {
  const fallback = `The request failed with status ${response.status}. Please try again.`;
  if (!response.headers.get("content-type")?.startsWith("application/json")) return fallback;
  const { error } = await response.json() as { error?: { message: string; param?: string | null } };
  if (error === undefined) return fallback;
  const label = error.param && form.querySelector(`label[for="field-${CSS.escape(error.param)}"]`);
  if (!label) return error.message;
  const text = label.textContent ?? "";
  return error.message
    .replace(/^The field \w+ is missing\b/, `${text} is required`)
    .split(" ").map((word) => word === error.param ? text : word).join(" ");
}

/** Removes the error of the page before a form is sent again. */
export function clearError(form: HTMLFormElement): void {
  form.parentElement?.querySelector("[data-form-error]")?.remove();
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
