import { clearError, errorOf, field, notice, send, setBusy, textsOf } from "./_form.ts";
import { isTaskOver, pollUntilOver, previewOf, type Task } from "./_task.ts";

/** Images, videos, audio and vectors: sends the form, follows the task, and shows the result below the form. */
export function startGeneration(form: HTMLFormElement): void {
  const results = form.parentElement!.querySelector<HTMLElement>("[data-results]")!;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.hasAttribute("aria-busy")) void create();
  });

  async function create(): Promise<void> {
    clearError(form);
    for (const failed of results.querySelectorAll(".result:has(.notice)")) failed.remove();
    const card = document.createElement("section");
    card.className = "result stack-s";
    results.prepend(card);
    setBusy(form, true);
    form.querySelector<HTMLElement>("[data-stop]")?.setAttribute("hidden", "");
    try {
      showProgress(card, "Sending …", null);
      await upload(card);
      const response = await send(form, form.action, textsOf(form));
      if (!response.ok) card.replaceChildren(notice(await errorOf(form, response)));
      else if (response.headers.get("content-type")?.startsWith("audio/")) {
        card.replaceChildren(audioPlayer(await response.blob()));
      } else {
        const made = await response.json() as Task | VectorList;
        if ("data" in made) card.replaceChildren(...describeVector(made));
        else void follow(card, made);
      }
    } catch (error) {
      card.replaceChildren(notice((error as Error).message));
    } finally {
      setBusy(form, false);
      form.dispatchEvent(new Event("quote"));
    }
  }

  /** Uploads the files first; the form sends their ids. */
  async function upload(card: HTMLElement): Promise<void> {
    for (const input of form.querySelectorAll<HTMLInputElement>("input[data-upload]")) {
      const [file] = input.files ?? [];
      if (file === undefined) continue;
      showProgress(card, `Uploading ${file.name} …`, null);
      const body = new FormData();
      body.append("purpose", "generation");
      body.append("file", file);
      const response = await send(form, "/console/api/files", body);
      if (!response.ok) throw new Error(await errorOf(form, response));
      field(form, input.dataset.upload!).value = (await response.json()).file_id;
    }
  }
}

async function follow(card: HTMLElement, created: Task): Promise<void> {
  const show = (task: Task) => {
    if (!isTaskOver(task)) showProgress(card, statusText(task), task);
  };
  show(created);
  const { signal } = new AbortController();
  const task = isTaskOver(created) ? created : await pollUntilOver(created.id, show, signal);
  if (task === null) card.replaceChildren(notice("The task can no longer be followed here."));
  else if (task.status !== "succeeded") {
    const message = task.error?.message ?? `The task was ${task.status}.`;
    card.replaceChildren(notice(message), taskLink(task));
  } else card.replaceChildren(await previewOf(task), taskLink(task));
}

function statusText(task: Task): string {
  if (task.status === "queued") return "Queued";
  return task.stage ? `Running: ${task.stage}` : "Running";
}

/** A status line and a progress bar. */
function showProgress(card: HTMLElement, text: string, task: Task | null): void {
  const line = document.createElement("p");
  line.className = "soft small";
  line.setAttribute("role", "status");
  line.textContent = text;
  const bar = document.createElement("progress");
  bar.className = "progress";
  bar.max = 100;
  bar.setAttribute("aria-label", "Progress");
  if (task !== null) bar.value = task.progress;
  card.replaceChildren(line, bar, ...(task === null ? [] : [taskLink(task)]));
}

function taskLink({ id }: Task): HTMLElement {
  const line = document.createElement("p");
  line.className = "small";
  const link = document.createElement("a");
  Object.assign(link, { href: `/console/tasks/${id}`, textContent: "View task and receipt" });
  line.append(link);
  return line;
}

interface VectorList {
  readonly data: readonly { readonly embedding: readonly number[] }[];
  readonly usage: { readonly total_tokens: number };
}

const NUMBERS_SHOWN = 12;

/** The length of the vector and its first numbers. */
function describeVector({ data, usage }: VectorList): HTMLElement[] {
  const vector = data[0]?.embedding ?? [];
  const line = document.createElement("p");
  line.className = "soft small";
  line.textContent = `${vector.length} dimensions, ${usage.total_tokens} tokens`;
  const numbers = document.createElement("pre");
  numbers.className = "long-text";
  const rest = vector.length > NUMBERS_SHOWN ? ", …" : "";
  numbers.textContent = `[${vector.slice(0, NUMBERS_SHOWN).join(", ")}${rest}]`;
  return [line, numbers];
}

function audioPlayer(blob: Blob): HTMLElement {
  const audio = document.createElement("audio");
  Object.assign(audio, { src: URL.createObjectURL(blob), controls: true, autoplay: true });
  return audio;
}
