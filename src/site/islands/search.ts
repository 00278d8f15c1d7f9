/** Filters a list while the visitor types. Without scripts the form does it on the server. */
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-search]")) attach(form);

function attach(form: HTMLFormElement): void {
  const list = document.querySelector(form.dataset.search ?? "");
  const none = document.querySelector<HTMLElement>("[data-search-empty]");
  // A list that the server has filtered is incomplete: it cannot be searched here.
  if (list === null || location.search !== "") return;
  const items = [...list.querySelectorAll<HTMLElement>("[data-search-text]")];
  const filter = () => {
    const fields = new FormData(form);
    const words = String(fields.get("q") ?? "").toLowerCase().split(/\s+/);
    const [type, capability] = [fields.get("type"), fields.get("capability")];
    let found = 0;
    for (const item of items) {
      const isMatch = words.every((word) => item.dataset.searchText?.includes(word)) &&
        (!type || item.dataset.type === type) &&
        (!capability || item.dataset.capabilities?.split(" ").includes(String(capability)));
      item.hidden = !isMatch;
      if (isMatch) found++;
    }
    if (none !== null) none.hidden = found > 0;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button")?.setAttribute("hidden", "");
  filter();
}

export {};
