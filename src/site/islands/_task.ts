/** What the API says of a task; only what pages show. */
export interface Task {
  id: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: number;
  stage?: string | null;
  error: { code: string; message: string } | null;
  charge?: { settled: string; currency: string };
}

export const isOver = (task: Task) => task.status !== "queued" && task.status !== "running";

const FIRST_MS = 400;
const MOST_MS = 5_000;

/** Asks again and again, less and less often, until a task is over. */
export async function follow(
  id: string,
  show: (task: Task) => void,
  signal: AbortSignal,
): Promise<Task | null> {
  for (let wait = FIRST_MS; !signal.aborted; wait = Math.min(wait * 1.25, MOST_MS)) {
    try {
      const answer = await fetch(`/console/api/tasks/${id}`, { signal });
      if (answer.ok) {
        const task = await answer.json() as Task;
        show(task);
        if (isOver(task)) return task;
      } else if (answer.status < 500 && answer.status !== 429) return null;
    } catch {
      // Offline for a moment: ask again.
    }
    await new Promise((resume) => setTimeout(resume, wait));
  }
  return null;
}

/** Results as the task's own page shows them. */
export async function previewOf({ id }: Task): Promise<Node> {
  const answer = await fetch(`/console/tasks/${id}/results`, { headers: { accept: "text/html" } });
  return document.createRange().createContextualFragment(answer.ok ? await answer.text() : "");
}
