import type { Child } from "hono/jsx";
import { lexer, type Token, type Tokens } from "marked";
import { codeTitle } from "../code_title.ts";
import { CodeBox } from "../parts.tsx";

export interface MarkdownOptions {
  /** Changes the text of paragraphs, tables and code before it is shown. */
  readonly fillIn: (text: string) => string;
  /** Where a link leads; null: its text is shown without a link. */
  readonly resolveLink: (href: string) => string | null;
  /** Parts of the page that are not Markdown, by their names: they stand where `<!-- part: name -->` is. */
  readonly parts?: Readonly<Record<string, Child>>;
}

/** A Markdown text as a page: its first heading, and one section for each heading of the second level. */
export function renderMarkdown(
  text: string,
  options: MarkdownOptions,
): { title: string; content: Child } {
  const tokens = lexer(text).filter(({ type }) => type !== "space");
  const sections: Token[][] = [[]];
  for (const token of tokens) {
    if (token.type === "heading" && token.depth === 2) sections.push([]);
    sections.at(-1)!.push(token);
  }
  const writer = new PageWriter(options);
  const [heading] = tokens;
  return {
    title: heading?.type === "heading" ? options.fillIn(plainText(heading)) : "",
    content: sections.map((section, index) => (
      <section aria-labelledby={index === 0 ? undefined : idOf(section[0]!)}>
        {section.map((token) =>
          writer.block(token)
        )}
      </section>
    )),
  };
}

/** The heading's anchor, as GitHub makes it: links between the guides work in both places. */
function idOf(heading: Token): string {
  return plainText(heading).toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function plainText(token: Token): string {
  if ("tokens" in token && token.tokens) return token.tokens.map(plainText).join("");
  return "text" in token ? unescapeEntities(token.text) : "";
}

const PART = /^<!-- part: (\w+) -->\s*$/;

/**
 * Makes elements of the tokens: JSX escapes every text, and HTML inside of Markdown is left out, so that a page
 * holds nothing but the elements below and its own parts.
 */
class PageWriter {
  readonly #options: MarkdownOptions;
  #codeBoxes = 0;
  #paragraphs = 0;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  block(token: Token): Child {
    switch (token.type) {
      case "heading":
        return this.#heading(token as Tokens.Heading);
      case "paragraph":
        // The first paragraph says what the page is about.
        return (
          <p class={this.#paragraphs++ === 0 ? "soft" : undefined}>{this.#inline(token.tokens)}</p>
        );
      case "list":
        return this.#list(token as Tokens.List);
      case "table":
        return this.#table(token as Tokens.Table);
      case "code":
        return this.#code(token as Tokens.Code);
      case "space":
        return null;
      case "html":
        return this.#options.parts?.[PART.exec(token.raw)?.[1] ?? ""] ?? null;
      default:
        throw new Error(`Cannot render Markdown of type ${token.type}: ${token.raw}`);
    }
  }

  #heading(token: Tokens.Heading): Child {
    const content = this.#inline(token.tokens);
    if (token.depth === 1) return <h1>{content}</h1>;
    return token.depth === 2
      ? <h2 id={idOf(token)}>{content}</h2>
      : <h3 id={idOf(token)}>{content}</h3>;
  }

  #list({ ordered, items }: Tokens.List): Child {
    const entries = items.map((item) => (
      <li>
        {item.tokens.map((token) =>
          token.type === "text"
            ? this.#inline((token as Tokens.Text).tokens ?? [token])
            : this.block(token)
        )}
      </li>
    ));
    return ordered ? <ol>{entries}</ol> : <ul class="prose-list">{entries}</ul>;
  }

  #table({ header, rows }: Tokens.Table): Child {
    const label = header.map((cell) => plainText({ type: "cell", raw: "", ...cell })).join(", ");
    return (
      <div class="table-box" tabindex={0} role="region" aria-label={label}>
        <table class="guide-table">
          <thead>
            <tr>{header.map((cell) => <th scope="col">{this.#inline(cell.tokens)}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row) => <tr>{row.map((cell) => <td>{this.#inline(cell.tokens)}</td>)}</tr>)}
          </tbody>
        </table>
      </div>
    );
  }

  #code({ lang = "", text }: Tokens.Code): Child {
    const [language = "", ...rest] = lang.split(" ");
    const title = codeTitle(language, rest.join(" "));
    return (
      <CodeBox id={`sample-${++this.#codeBoxes}`} title={title} text={this.#options.fillIn(text)} />
    );
  }

  #inline(tokens: readonly Token[] = []): Child[] {
    return tokens.map((token) => this.#span(token));
  }

  #span(token: Token): Child {
    const { fillIn, resolveLink } = this.#options;
    switch (token.type) {
      case "text":
      case "escape":
        return fillIn(unescapeEntities(token.text));
      case "codespan":
        return <code>{fillIn(unescapeEntities(token.text))}</code>;
      case "strong":
        return <strong>{this.#inline(token.tokens)}</strong>;
      case "em":
        return <em>{this.#inline(token.tokens)}</em>;
      case "br":
        return <br />;
      case "link": {
        const href = resolveLink(token.href);
        const content = this.#inline(token.tokens);
        return href === null ? <>{content}</> : <a href={href}>{content}</a>;
      }
      default:
        throw new Error(`Cannot render Markdown of type ${token.type}: ${token.raw}`);
    }
  }
}

/** The lexer escapes some texts already; JSX would escape them a second time. */
function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name]!);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  "#39": "'",
};
