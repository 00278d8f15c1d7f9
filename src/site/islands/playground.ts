import { startChat } from "./_chat.ts";
import { startGeneration } from "./_generation.ts";
import { startQuotes } from "./_quote.ts";

/** Runs the model of the page without leaving the page. */
const form = document.querySelector<HTMLFormElement>("form[data-playground]");
if (form !== null) {
  if (form.dataset.playground === "message") startChat(form);
  else startGeneration(form);
  startQuotes(form);
}
