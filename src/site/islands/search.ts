/** Narrows a list while one types. The form itself works without this, with a click more. */
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-search]")) attach(form);

function attach(form: HTMLFormElement): void {
  const list = document.querySelector(form.dataset.search ?? "");
  const none = document.querySelector<HTMLElement>("[data-search-empty]");
  // A list that was narrowed by the server has not everything to search in.
  if (list === null || location.search !== "") return;
  const items = [...list.querySelectorAll<HTMLElement>("[data-words]")];
  const narrow = () => {
    const fields = new FormData(form);
    const words = String(fields.get("q") ?? "").toLowerCase().split(/\s+/);
    const [type, capability] = [fields.get("type"), fields.get("capability")];
    let found = 0;
    for (const item of items) {
      const fits = words.every((word) => item.dataset.words?.includes(word)) &&
        (!type || item.dataset.type === type) &&
        (!capability || item.dataset.capabilities?.split(" ").includes(String(capability)));
      item.hidden = !fits;
      if (fits) found++;
    }
    if (none !== null) none.hidden = found > 0;
  };
  form.addEventListener("input", narrow);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button")?.setAttribute("hidden", "");
  narrow();
}

export {};
