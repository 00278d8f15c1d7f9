/** On a phone the navigation is a row that scrolls: brings the current entry into view. */
const current = document.querySelector<HTMLElement>(".side [aria-current]");
const row = current?.closest<HTMLElement>(".side");
if (current && row && row.scrollWidth > row.clientWidth) {
  row.scrollLeft = current.offsetLeft - row.offsetLeft -
    (row.clientWidth - current.offsetWidth) / 2;
}

export {};
