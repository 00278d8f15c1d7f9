/** The usual test configuration with this `site` block. */
export async function configWithSite(site: string): Promise<string> {
  const text = await Deno.readTextFile(new URL("./config.yaml", import.meta.url));
  if (/^site:/m.test(text)) throw new Error("the test configuration has a site block already");
  return `${text}\nsite:\n${site.replace(/^(?=.)/gm, "  ")}\n`;
}
