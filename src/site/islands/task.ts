import { isTaskOver, pollUntilOver } from "./_task.ts";

/** Updates the page of a running task, and reloads it when the status changes. */
const card = document.querySelector<HTMLElement>("[data-task]");
if (card !== null) {
  const bar = card.querySelector("progress");
  const line = card.querySelector<HTMLElement>("[data-task-status]");
  const statusAtLoad = card.dataset.status;
  void pollUntilOver(card.dataset.task!, (task) => {
    if (bar !== null) bar.value = task.progress;
    if (line !== null) {
      line.textContent = task.status === "queued" ? "Queued" : `Running, ${task.progress}%`;
    }
    if (isTaskOver(task) || task.status !== statusAtLoad) location.reload();
  }, new AbortController().signal);
}
