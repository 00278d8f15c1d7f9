/**
 * On every page: shows what only works with scripts, asks before `data-confirm` forms are sent, opens
 * `<dialog>`s, and keeps a form from being sent twice by an impatient finger.
 */
document.documentElement.classList.add("has-scripts");

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  const question = form.dataset.confirm;
  if (question !== undefined && !confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.dataset.sent !== undefined) event.preventDefault();
  else if (form.method === "post" && !event.defaultPrevented) form.dataset.sent = "";
});

// A page that comes back from the browser's memory takes input again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) {
    delete form.dataset.sent;
  }
});

document.addEventListener("click", (event) => {
  const button = (event.target as Element).closest<HTMLElement>("[data-opens],[data-closes]");
  if (button === null) return;
  const { opens } = button.dataset;
  if (opens !== undefined) document.querySelector<HTMLDialogElement>(opens)?.showModal();
  else button.closest("dialog")?.close();
});

export {};
