import { withoutTrailing } from "../../../lib/without_trailing.ts";

/** A name that is not taken: `openai`, then `openai-2`. It is taken from then on. */
export function uniqueName(wish: string, taken: Set<string>, separator = "-"): string {
  let name = wish;
  for (let turn = 2; taken.has(name); turn++) name = `${wish}${separator}${turn}`;
  taken.add(name);
  return name;
}

/** A key of `providers` or `plans`: lower-case letters, digits, - and _. Null where no letter is left. */
export function keyName(text: string): string | null {
  const key = text.toLowerCase().replaceAll(/[^a-z0-9_]+/g, "-").replace(/^[^a-z]+/, "");
  return withoutTrailing(key.slice(0, 48), "-") || null;
}

/** An id of a model: a slash and other characters become dashes. Null where nothing is left. */
export function modelId(name: string): string | null {
  const id = name.replaceAll(/[^A-Za-z0-9._:-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return withoutTrailing(id.slice(0, 120), "-") || null;
}

/** An environment variable for a provider: openai-2 has OPENAI_2_API_KEY. */
export function variableName(provider: string, part: string): string {
  const [first, rest] = [provider, part].map((text) =>
    text.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, "_")
  );
  return rest!.startsWith(`${first}_`) ? rest! : `${first}_${rest}`;
}
