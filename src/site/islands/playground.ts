import { startChat } from "./_chat.ts";
import { startGeneration } from "./_generation.ts";
import { keepQuoting } from "./_quote.ts";

/** Makes the form of a model answer on the page itself. */
const form = document.querySelector<HTMLFormElement>("form[data-playground]");
if (form !== null) {
  if (form.dataset.playground === "chat") startChat(form);
  else startGeneration(form);
  keepQuoting(form);
}
