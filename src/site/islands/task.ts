import { follow, isOver } from "./_task.ts";

/** Keeps a task's page up to date while the task runs; when it ends, the page is made anew. */
const place = document.querySelector<HTMLElement>("[data-task]");
if (place !== null) {
  const bar = place.querySelector("progress");
  const line = place.querySelector<HTMLElement>("[data-task-status]");
  const began = place.dataset.status;
  void follow(place.dataset.task!, (task) => {
    if (bar !== null) bar.value = task.progress;
    if (line !== null) line.textContent = `${task.status}, ${task.progress} %`;
    if (isOver(task) || task.status !== began) location.reload();
  }, new AbortController().signal);
}
