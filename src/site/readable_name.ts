/** A name of the API for people: `text_to_image` is `Text to image`. */
export function readableName(name: string): string {
  const text = name.replaceAll("_", " ").replace(/^json\b/, "JSON");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
