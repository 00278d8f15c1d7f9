/** The usual test declaration with this `site` block. */
export async function declarationWithSite(site: string): Promise<string> {
  const text = await Deno.readTextFile(new URL("./declaration.yaml", import.meta.url));
  if (/^site:/m.test(text)) throw new Error("the test declaration has a site block already");
  return `${text}\nsite:\n${site.replace(/^(?=.)/gm, "  ")}\n`;
}
