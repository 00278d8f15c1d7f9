const CHARACTERS_MAX = 255;

/** A client's name for a file, fit to be shown and to be suggested to a browser: no path, nothing invisible. */
export function safeFilename(name: string, extension: string): string {
  const last = name.toWellFormed().split(/[\\/]/).at(-1) ?? "";
  const visible = last.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").trim().replace(/^\.+/, "");
  if (visible === "") return `file.${extension}`;
  const characters = [...visible];
  return characters.length <= CHARACTERS_MAX
    ? visible
    // The end says what it is.
    : characters.slice(0, CHARACTERS_MAX - 20).concat(characters.slice(-20)).join("");
}
