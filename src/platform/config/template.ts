const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** The names between double braces, without duplicates. */
export function placeholdersOf(template: string): Set<string> {
  return new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name!.trim()));
}

/** Fills in a template. Placeholders inside the inserted values are not filled in. */
export function fillIn(
  template: string,
  values: Readonly<Record<string, string | number>>,
): string {
  return template.replace(PLACEHOLDER, (_, name: string) => String(values[name.trim()] ?? ""))
    .trim();
}
