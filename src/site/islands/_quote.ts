import { send, textsOf } from "./_form.ts";

const PAUSE_MS = 350;

/** Shows the maximum cost of the form while the visitor types. */
export function startQuotes(form: HTMLFormElement): void {
  const target = form.querySelector<HTMLElement>("[data-quoted]");
  const url = form.dataset.quote;
  if (target === null || url === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = new AbortController();
  const quote = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    try {
      const response = await send(form, url, textsOf(form), signal);
      if (!response.ok) return;
      const { text, covered } = await response.json() as { text: string; covered?: boolean };
      target.textContent = text;
      target.classList.toggle("bad", covered === false);
    } catch (error) {
      // Offline (a TypeError), or replaced by the next quote.
      if (!(error instanceof TypeError) && !signal.aborted) throw error;
    }
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void quote(), PAUSE_MS);
  };
  form.addEventListener("input", schedule);
  form.addEventListener("quote", schedule);
  schedule();
}
