/** Shows a tooltip with the figures of the day under the pointer. They are also in the table below. */
for (const chart of document.querySelectorAll<HTMLElement>("[data-chart]")) addTooltip(chart);

function addTooltip(chart: HTMLElement): void {
  const tip = chart.querySelector<HTMLElement>(".chart-tip")!;
  const svg = chart.querySelector("svg")!;
  const mark = svg.querySelector(".chart-mark")!;
  const table = chart.querySelector("table")!;
  const series = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent);
  // The table has the newest day first.
  const rows = [...table.querySelectorAll("tbody tr")].reverse()
    .map((row) => [...row.children].map((cell) => cell.textContent));
  const step = svg.viewBox.baseVal.width / rows.length;
  let current = -1;

  svg.addEventListener("pointermove", (event) => {
    const { left, width } = svg.getBoundingClientRect();
    const at = Math.floor((event.clientX - left) / width * rows.length);
    const day = Math.max(0, Math.min(rows.length - 1, at));
    if (day === current) return;
    current = day;
    mark.setAttribute("x", String(day * step));
    mark.setAttribute("visibility", "visible");
    write(tip, series, rows[day]!);
    move(tip, (day + 0.5) / rows.length, width);
  });
  svg.addEventListener("pointerleave", () => {
    current = -1;
    mark.setAttribute("visibility", "hidden");
    tip.hidden = true;
  });
}

function write(tip: HTMLElement, series: string[], [day, total, ...parts]: string[]): void {
  const heading = document.createElement("strong");
  heading.textContent = `${day}: ${total}`;
  const lines = parts.map((part, at) => {
    const line = document.createElement("span");
    line.textContent = part === "" ? "" : `${series[at + 2]} ${part}`;
    return line;
  });
  tip.replaceChildren(heading, ...lines.filter(({ textContent }) => textContent !== ""));
}

/** Above the bar, and always inside the chart. */
function move(tip: HTMLElement, share: number, width: number): void {
  tip.hidden = false;
  const half = tip.offsetWidth / 2;
  const x = Math.max(half, Math.min(width - half, share * width));
  tip.style.left = `${x}px`;
}

export {};
