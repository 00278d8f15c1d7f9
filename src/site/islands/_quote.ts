import { send, textsOf } from "./_form.ts";

const PAUSE_MS = 350;

/** Says what sending would cost at the most, while one types. */
export function keepQuoting(form: HTMLFormElement): void {
  const place = form.querySelector<HTMLElement>("[data-quoted]");
  const address = form.dataset.quote;
  if (place === null || address === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = new AbortController();
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    try {
      const answer = await send(form, address, textsOf(form), asking.signal);
      if (!answer.ok) return;
      const { text, covered } = await answer.json() as { text: string; covered?: boolean };
      place.textContent = text;
      place.classList.toggle("bad", covered === false);
    } catch {
      // Overtaken by the next letter, or offline: an estimate is no promise.
    }
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), PAUSE_MS);
  };
  form.addEventListener("input", soon);
  form.addEventListener("quote", soon);
  soon();
}
