/** What the API says of a task; only what pages show. */
export interface Task {
  id: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  progress: number;
  stage?: string | null;
  output: Output[];
  error: { code: string; message: string } | null;
  charge?: { settled: string; currency: string };
}

interface Output {
  type: string;
  url: string;
  mime_type?: string;
  width?: number;
  height?: number;
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

/** Results, each to look at or to listen to. */
export function preview(task: Task): HTMLElement[] {
  return task.output.map((output, at) => {
    const figure = document.createElement("figure");
    figure.className = "preview";
    figure.append(media(output, at), link(output));
    return figure;
  });
}

function media(output: Output, at: number): HTMLElement {
  const address = local(output.url);
  if (output.type === "video") {
    const video = document.createElement("video");
    Object.assign(video, { src: address, controls: true, playsInline: true, preload: "metadata" });
    size(video, output);
    return video;
  }
  if (output.type === "audio") {
    const audio = document.createElement("audio");
    Object.assign(audio, { src: address, controls: true });
    return audio;
  }
  const image = document.createElement("img");
  Object.assign(image, { src: address, alt: `Result ${at + 1}` });
  size(image, output);
  return image;
}

/** Known before it is loaded, so that nothing jumps. */
function size(element: HTMLImageElement | HTMLVideoElement, { width, height }: Output): void {
  if (width !== undefined && height !== undefined) Object.assign(element, { width, height });
}

function link(output: Output): HTMLElement {
  const caption = document.createElement("figcaption");
  const anchor = document.createElement("a");
  Object.assign(anchor, {
    href: local(output.url),
    textContent: "Open the file",
    target: "_blank",
  });
  anchor.rel = "noopener";
  caption.append(anchor);
  return caption;
}

/** The API's public address may be another name of this same server. */
function local(url: string): string {
  const { pathname, search } = new URL(url, location.href);
  return pathname + search;
}
