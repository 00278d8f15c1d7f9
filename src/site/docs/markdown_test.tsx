import assert from "node:assert/strict";
import { renderMarkdown } from "./markdown.tsx";

function render(text: string): { title: string; html: string } {
  const { title, content } = renderMarkdown(text, {
    fillIn: (found) => found.replaceAll("NAME", "<b>A & B</b>"),
    resolveLink: (href) => href.startsWith("/") ? href : null,
  });
  return { title, html: String(<>{content}</>).replaceAll(/<(\w+) >/g, "<$1>") };
}

Deno.test("headings of the second level begin sections, with the anchors that GitHub makes", () => {
  const { title, html } = render("# A page\n\nText.\n\n## Rotate a secret, now\n\nMore.");
  assert.equal(title, "A page");
  assert.equal(
    html,
    `<section><h1>A page</h1><p class="soft">Text.</p></section>` +
      `<section aria-labelledby="rotate-a-secret-now">` +
      `<h2 id="rotate-a-secret-now">Rotate a secret, now</h2><p>More.</p></section>`,
  );
});

Deno.test("texts and filled-in values are escaped once, HTML in Markdown is left out", () => {
  const { html } = render(
    '# NAME\n\n<script>alert(1)</script>\n\n`a < b && NAME` "q" &lt;\n\n```ts\n"NAME" < 1\n```',
  );
  assert.ok(html.includes("<h1>&lt;b&gt;A &amp; B&lt;/b&gt;</h1>"), html);
  assert.ok(html.includes("<code>a &lt; b &amp;&amp; &lt;b&gt;A &amp; B&lt;/b&gt;</code>"), html);
  assert.ok(html.includes("&quot;&lt;b&gt;A &amp; B&lt;/b&gt;&quot; &lt; 1"), html);
  assert.ok(!/<script|<b>/.test(html), html);
});

Deno.test("a link that leads nowhere is plain text", () => {
  const { html } = render("[here](/docs) and [there](javascript:alert(1)) and [file](../x.md)");
  assert.ok(html.includes(`<a href="/docs">here</a> and there and file`), html);
});

Deno.test("code blocks get a title from their language and note", () => {
  const { html } = render(
    "```ts npm install openai\n1\n```\n\n```sh curl\n2\n```\n\n```sh\n3\n```",
  );
  assert.deepEqual(
    [...html.matchAll(/code-title">([^<]*)/g)].map(([, title]) => title),
    ["TypeScript: npm install openai", "curl", "Shell"],
  );
});

Deno.test("an element that is not supported is an error with its text", () => {
  assert.throws(() => render("> a quote"), /type blockquote: > a quote/);
});

Deno.test("a part of the page stands where the text names it; an unknown one is left out", () => {
  const { content } = renderMarkdown(
    "# A\n\n<!-- part: clients -->\n\n<!-- part: other -->\n\nEnd.",
    {
      fillIn: (text) => text,
      resolveLink: (href) => href,
      parts: { clients: <b>Clients</b> },
    },
  );
  const html = String(<>{content}</>);
  assert.match(html, /<h1>A<\/h1><b>Clients<\/b><p[^>]*>End\.<\/p>/);
});
