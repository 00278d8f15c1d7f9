/** A task of the API, as far as pages show it. */
export interface Task {
  id: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: number;
  stage?: string | null;
  error: { code: string; message: string } | null;
  charge?: { settled: string; currency: string };
}

export const isTaskOver = (task: Task) => task.status !== "queued" && task.status !== "running";

const POLL_MIN_MS = 400;
const POLL_MAX_MS = 5_000;

/** Polls a task until it is over, with growing pauses. Null where it cannot be read. */
export async function pollUntilOver(
  id: string,
  show: (task: Task) => void,
  signal: AbortSignal,
): Promise<Task | null> {
  for (let wait = POLL_MIN_MS; !signal.aborted; wait = Math.min(wait * 1.25, POLL_MAX_MS)) {
    try {
      const response = await fetch(`/console/api/tasks/${id}`, { signal });
      if (response.ok) {
        const task = await response.json() as Task;
        show(task);
        if (isTaskOver(task)) return task;
      } else if (response.status < 500 && response.status !== 429) return null;
    } catch (error) {
      // Offline for a moment (a TypeError): try again.
      if (!(error instanceof TypeError) && !signal.aborted) throw error;
    }
    await new Promise((resume) => setTimeout(resume, wait));
  }
  return null;
}

/** The results as the page of the task shows them. */
export async function previewOf({ id }: Task): Promise<Node> {
  const response = await fetch(`/console/tasks/${id}/results`, {
    headers: { accept: "text/html" },
  });
  return document.createRange().createContextualFragment(response.ok ? await response.text() : "");
}
