import type { Imported, ImportNote } from "../domain/catalogue/import/imported.ts";
import { table } from "./command.ts";

/** What became of the imported file. `target` is the file that was written; undefined: none. */
export function renderReport(
  { notes, variables }: Imported,
  warnings: readonly string[],
  target: string | undefined,
): string {
  const part = (title: string, found: readonly ImportNote[]) =>
    found.length === 0
      ? []
      : [`${title}:\n${table(found.map(({ subject, text }) => [`  ${subject}`, text]))}`];
  return [
    ...part("Taken", notes.taken),
    ...part("Different here", notes.changed),
    ...part("Left out", notes.leftOut),
    ...(warnings.length === 0
      ? []
      : [`Warnings of check:\n${warnings.map((text) => `  ${text}`).join("\n")}`]),
    ...part(
      "Environment variables to set (keys of the file are not copied)",
      variables.map(({ name, purpose }) => ({ subject: name, text: purpose })),
    ),
    target === undefined
      ? "Nothing is written without --write <file>."
      : `${target} written. Set the variables, then \`deno task gateway check ${target}\`.`,
  ].join("\n\n");
}
