import { faultOf, field, notice, send, setBusy, textsOf } from "./_form.ts";
import { follow, isOver, previewOf, type Task } from "./_task.ts";

/** Pictures, clips and sound: sent, followed, and shown below the form, the newest first. */
export function startGeneration(form: HTMLFormElement): void {
  const results = form.parentElement!.querySelector<HTMLElement>("[data-results]")!;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.hasAttribute("aria-busy")) void create();
  });

  async function create(): Promise<void> {
    const card = document.createElement("section");
    card.className = "result stack-s";
    results.prepend(card);
    setBusy(form, true);
    form.querySelector<HTMLElement>("[data-stop]")?.setAttribute("hidden", "");
    try {
      tell(card, "Sending …", null);
      await upload(card);
      const answer = await send(form, form.action, textsOf(form));
      if (!answer.ok) card.replaceChildren(notice(await faultOf(answer)));
      else if (answer.headers.get("content-type")?.startsWith("audio/")) {
        card.replaceChildren(sound(await answer.blob()));
      } else void watch(card, await answer.json() as Task);
    } catch (error) {
      card.replaceChildren(notice((error as Error).message));
    } finally {
      setBusy(form, false);
      form.dispatchEvent(new Event("quote"));
    }
  }

  /** Files go first, by themselves; their ids go with the form. */
  async function upload(card: HTMLElement): Promise<void> {
    for (const input of form.querySelectorAll<HTMLInputElement>("input[data-upload]")) {
      const [file] = input.files ?? [];
      if (file === undefined) continue;
      tell(card, `Uploading ${file.name} …`, null);
      const body = new FormData();
      body.append("purpose", "generation");
      body.append("file", file);
      const answer = await send(form, "/console/api/files", body);
      if (!answer.ok) throw new Error(await faultOf(answer));
      field(form, input.dataset.upload!).value = (await answer.json()).file_id;
    }
  }
}

async function watch(card: HTMLElement, begun: Task): Promise<void> {
  const show = (task: Task) => {
    if (!isOver(task)) tell(card, said(task), task);
  };
  show(begun);
  const task = isOver(begun) ? begun : await follow(begun.id, show, new AbortController().signal);
  if (task === null) card.replaceChildren(notice("The task can no longer be followed here."));
  else if (task.status !== "succeeded") {
    card.replaceChildren(notice(task.error?.message ?? `The task was ${task.status}.`), more(task));
  } else card.replaceChildren(await previewOf(task), more(task));
}

function said(task: Task): string {
  if (task.status === "queued") return "Waiting for its turn …";
  return task.stage ? `Working on the ${task.stage} …` : "Working …";
}

/** A line and a bar. */
function tell(card: HTMLElement, text: string, task: Task | null): void {
  const line = document.createElement("p");
  line.className = "soft small";
  line.setAttribute("role", "status");
  line.textContent = text;
  const bar = document.createElement("progress");
  bar.className = "progress";
  bar.max = 100;
  bar.setAttribute("aria-label", "Progress");
  if (task !== null) bar.value = task.progress;
  card.replaceChildren(line, bar, ...(task === null ? [] : [more(task)]));
}

function more({ id }: Task): HTMLElement {
  const line = document.createElement("p");
  line.className = "small";
  const link = document.createElement("a");
  Object.assign(link, { href: `/console/tasks/${id}`, textContent: "Task and receipt" });
  line.append(link);
  return line;
}

function sound(blob: Blob): HTMLElement {
  const audio = document.createElement("audio");
  Object.assign(audio, { src: URL.createObjectURL(blob), controls: true, autoplay: true });
  return audio;
}
