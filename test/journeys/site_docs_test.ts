import assert from "node:assert/strict";
import { GUIDES } from "../../src/site/docs/guides.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("every file of docs/use is a page with this gateway's name, URLs and models", async () => {
  await using gateway = await openGateway();
  const files = [...Deno.readDirSync(new URL("../../docs/use/", import.meta.url))]
    .filter(({ isFile }) => isFile).map(({ name }) => name.replace(/\.md$/, ""));
  assert.deepEqual(GUIDES.map(({ name }) => name).sort(), files.sort());
  for (const { path, title } of GUIDES) {
    const res = await gateway.fetch(path);
    const html = await res.text();
    assert.equal(res.status, 200, path);
    const main = html.slice(html.indexOf("<main"));
    assert.doesNotMatch(main, /127\.0\.0\.1:8787|tollgate|sim-(?:chat|image|video)/i, path);
    assert.ok(main.includes(`aria-current="page">${title}`), path);
  }
  const chat = await (await gateway.fetch("/docs")).text();
  assert.match(chat, /TESTGATE_API_KEY/);
  assert.match(chat, /&quot;model&quot;: &quot;tiny-chat&quot;/);
  assert.ok(chat.includes(`curl ${gateway.address}/v1/models`));
});

test("every link of the guides leads to a page and to a heading that exist", async () => {
  await using gateway = await openGateway();
  const pages = new Map<string, string>();
  const pageAt = async (path: string) => {
    const known = pages.get(path);
    if (known !== undefined) return known;
    const res = await gateway.fetch(path);
    assert.ok(res.ok || res.status === 303, `${path} is ${res.status}`);
    const html = await res.text();
    pages.set(path, html);
    return html;
  };
  for (const { path } of GUIDES) {
    const html = await pageAt(path);
    const body = html.slice(html.indexOf("docs-body"));
    for (const [, href] of body.matchAll(/<a href="([^"]+)"/g)) {
      if (href!.startsWith("https://")) continue;
      const [target = "", anchor] = href!.split("#");
      if (target.startsWith("/console")) continue;
      const found = await pageAt(target === "" ? path : target);
      if (anchor !== undefined) assert.ok(found.includes(`id="${anchor}"`), `${path}: ${href}`);
    }
  }
  const outside = await gateway.fetch("/docs/receivers/..%2Ftasks.md");
  await outside.body?.cancel();
  assert.equal(outside.status, 404);
});

test("a signed-in reader gets the guides too", async () => {
  await using gateway = await openGateway();
  const ann = new Visitor(gateway.address);
  await ann.register("ann@example.com");
  assert.match(await (await ann.get("/docs/chat")).text(), /<h1>Chat<\/h1>/);
});
