/** The guides of the documentation: docs/use/*.md of the source, each at its own path. */
export interface Guide {
  /** Name of the Markdown file in docs/use, without its ending. */
  readonly name: string;
  readonly path: string;
  /** How the navigation calls it; the page's title is the file's first heading. */
  readonly title: string;
}

const TITLES: readonly (readonly [name: string, title: string])[] = [
  ["quick-start", "Quick start"],
  ["connect", "Connect"],
  ["chat", "Chat"],
  ["responses", "Responses"],
  ["messages", "Messages"],
  ["embeddings", "Embeddings"],
  ["tasks", "Images, video, speech"],
  ["dramas", "Dramas"],
  ["files", "Files"],
  ["webhooks", "Webhooks"],
  ["billing", "Billing"],
  ["requests", "Request log"],
  ["errors", "Errors and rate limits"],
  ["browser-authorization", "Browser sign-in"],
];

export const GUIDES: readonly Guide[] = TITLES.map(([name, title]) => ({
  name,
  title,
  path: name === "quick-start" ? "/docs" : `/docs/${name}`,
}));

const FOLDER = new URL("../../../docs/use/", import.meta.url);

export function readGuide({ name }: Guide): Promise<string> {
  return Deno.readTextFile(new URL(`${name}.md`, FOLDER));
}

/** Sample receivers of webhooks that the guides link to; null when there is no such file. */
export async function readReceiver(name: string): Promise<string | null> {
  if (!/^(?:verify\.(?:ts|py|go)|vectors\.json)$/.test(name)) return null;
  return await Deno.readTextFile(new URL(`receivers/${name}`, FOLDER));
}

/**
 * The path on the site of a link in a guide: other guides, sample files and pages of the site itself. Null for
 * files of the source that are not served.
 */
export function resolveGuideLink(href: string): string | null {
  if (/^(?:https:\/\/|\/|#)/.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  const guide = GUIDES.find(({ name }) => file === `${name}.md`);
  if (guide !== undefined) return anchor === undefined ? guide.path : `${guide.path}#${anchor}`;
  return file.startsWith("receivers/") ? `/docs/${file}` : null;
}
