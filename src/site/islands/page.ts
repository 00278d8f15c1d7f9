import { localizeTimes } from "./_times.ts";

/**
 * On every page: shows what needs scripts, writes times in the visitor's time zone, closes confirmations, and
 * keeps a form from being sent twice.
 */
document.documentElement.classList.add("has-scripts");
localizeTimes();

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (form.dataset.sent !== undefined) event.preventDefault();
  else if (form.method === "post" && !event.defaultPrevented) form.dataset.sent = "";
});

// A page restored from the back-forward cache can send its forms again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
  }
});

/** Closes open confirmations, but not the one that contains `except`. */
function closeConfirmations(except: Node | null): HTMLDetailsElement[] {
  const open = [...document.querySelectorAll<HTMLDetailsElement>("details.confirm[open]")]
    .filter((details) => !details.contains(except));
  for (const details of open) details.open = false;
  return open;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  closeConfirmations(null)[0]?.querySelector("summary")?.focus();
});
document.addEventListener("click", (event) => closeConfirmations(event.target as Node));
