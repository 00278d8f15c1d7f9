/**
 * `<button data-copy="#id">` copies the text of that element; `data-copy-text` copies its own value. Without
 * scripts the button is hidden.
 */
const DONE_MS = 1_600;

function textOf(button: HTMLButtonElement): string {
  const target = button.dataset.copy ? document.querySelector(button.dataset.copy) : null;
  if (target instanceof HTMLInputElement) return target.value;
  return button.dataset.copyText ?? target?.textContent ?? "";
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const label = button.querySelector<HTMLElement>("[data-copy-label]") ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(textOf(button));
    label.textContent = "Copied";
  } catch (error) {
    // The browser denies access to the clipboard: the text is selected instead.
    if (!(error instanceof DOMException) && !(error instanceof TypeError)) throw error;
    label.textContent = "Press Ctrl+C";
    const target = button.dataset.copy ? document.querySelector(button.dataset.copy) : null;
    if (target !== null) getSelection()?.selectAllChildren(target);
  }
  button.classList.add("is-done");
  setTimeout(() => {
    label.textContent = before;
    button.classList.remove("is-done");
  }, DONE_MS);
}

document.addEventListener("click", (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>(
    "button[data-copy],button[data-copy-text]",
  );
  if (button !== null && !button.classList.contains("is-done")) void copy(button);
});
document.documentElement.classList.add("has-copy");

export {};
