/** On a phone the sections are a row that scrolls: the current one must be in sight. */
const current = document.querySelector<HTMLElement>(".side [aria-current]");
const row = current?.closest<HTMLElement>(".side");
if (current && row && row.scrollWidth > row.clientWidth) {
  row.scrollLeft = current.offsetLeft - row.offsetLeft -
    (row.clientWidth - current.offsetWidth) / 2;
}

export {};
