/** Shows the figures of the day under the pointer. Without it the browser shows the same as a title. */
for (const chart of document.querySelectorAll<HTMLElement>("[data-chart]")) follow(chart);

function follow(chart: HTMLElement): void {
  const tip = chart.querySelector<HTMLElement>(".chart-tip");
  const picture = chart.querySelector("svg");
  if (tip === null || picture === null) return;
  const days = [...picture.querySelectorAll<SVGGElement>(".chart-day")];
  // Two explanations of one bar would lie on each other.
  for (const day of days) day.querySelector("title")?.remove();
  let shown: SVGGElement | undefined;

  picture.addEventListener("pointermove", (event) => {
    const { left, width } = picture.getBoundingClientRect();
    const at = Math.floor((event.clientX - left) / width * days.length);
    const day = days[Math.max(0, Math.min(days.length - 1, at))];
    if (day === undefined || day === shown) return;
    shown?.classList.remove("is-shown");
    day.classList.add("is-shown");
    shown = day;
    write(tip, day.dataset);
    place(tip, (at + 0.5) / days.length, width);
  });
  picture.addEventListener("pointerleave", () => {
    shown?.classList.remove("is-shown");
    shown = undefined;
    tip.hidden = true;
  });
}

function write(tip: HTMLElement, { day, total, told }: DOMStringMap): void {
  const heading = document.createElement("strong");
  heading.textContent = `${day}: ${total}`;
  const lines = (told ?? "").split(", ").filter((line) =>
    line !== "" && !line.startsWith("nothing")
  );
  const rest = lines.map((line) => {
    const element = document.createElement("span");
    element.textContent = line;
    return element;
  });
  tip.replaceChildren(heading, ...rest);
}

/** Above the bar, and never out of the picture. */
function place(tip: HTMLElement, share: number, width: number): void {
  tip.hidden = false;
  const half = tip.offsetWidth / 2;
  const x = Math.max(half, Math.min(width - half, share * width));
  tip.style.left = `${x}px`;
}

export {};
