import assert from "node:assert/strict";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const PAGES = ["/", "/sign-in", "/register", "/docs", "/docs/reference", "/no-such-page"];

test("every page forbids what it does not use, and holds no inline script or style", async () => {
  await using gateway = await openGateway();
  const [ann, visitor] = [new Visitor(gateway.address), new Visitor(gateway.address)];
  await ann.register("ann@example.com");
  for (const path of [...PAGES, "/account", "/console"]) {
    const res = await (PAGES.includes(path) ? visitor : ann).get(path);
    const html = await res.text();
    assert.match(html, /^<!doctype html>/, path);
    const policy = res.headers.get("content-security-policy")!;
    for (
      const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]
    ) assert.ok(policy.split("; ").includes(rule), `${path}: ${rule}`);
    assert.equal(res.headers.get("x-content-type-options"), "nosniff");
    assert.equal(res.headers.get("cross-origin-opener-policy"), "same-origin");
    assert.equal(res.headers.get("referrer-policy"), "same-origin");
    assert.match(res.headers.get("cache-control")!, /no-store/);
    assert.doesNotMatch(
      html,
      /<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:/i,
      path,
    );
    // Nothing comes from anywhere else.
    const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)];
    for (const [, address] of loaded) assert.match(address!, /^\/(?!\/)/, path);
  }
});

test("assets are kept for good under a name that changes with them, and come compressed", async () => {
  await using gateway = await openGateway();
  const html = await (await gateway.fetch("/")).text();
  const assets = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(assets.some((path) => /^\/assets\/site-[0-9a-f]{12}\.css$/.test(path)));
  for (const path of assets) {
    for (const encoding of ["br", "gzip", "identity"]) {
      const res = await gateway.fetch(path, { headers: { "accept-encoding": encoding } });
      assert.equal(res.status, 200);
      assert.equal(res.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.match(res.headers.get("content-type")!, /^text\/(css|javascript); charset=utf-8$/);
      assert.equal(res.headers.get("vary"), "accept-encoding");
      assert.ok((await res.text()).length > 100);
    }
  }
  const old = await gateway.fetch("/assets/site-000000000000.css");
  assert.equal(old.status, 404);
  await old.body?.cancel();
});

test("404 is a page for browsers and the usual error for programs", async () => {
  await using gateway = await openGateway();
  const page = await gateway.fetch("/nowhere", { headers: { accept: "text/html" } });
  assert.equal(page.status, 404);
  assert.match(await page.text(), /Page not found/);
  const error = await gateway.fetch("/nowhere");
  assert.equal(error.status, 404);
  assert.equal((await error.json()).error.code, "unknown_endpoint");
  // Under /v1 it is always the API that answers.
  const api = await gateway.fetch("/v1/nowhere", { headers: { accept: "text/html" } });
  assert.equal(api.status, 401);
  assert.equal((await api.json()).error.code, "missing_api_key");
});

test("pages that are not public need a sign-in, and redirect to it", async () => {
  await using gateway = await openGateway();
  const visitor = new Visitor(gateway.address);
  for (const path of ["/account", "/console", "/console/keys?x=1"]) {
    const res = await visitor.get(path);
    assert.equal(res.status, 303);
    assert.equal(
      res.headers.get("location"),
      `/sign-in?${new URLSearchParams({ return_to: path })}`,
    );
  }
});

test("texts that people type are shown as texts", async () => {
  await using gateway = await openGateway();
  const mallory = new Visitor(gateway.address);
  const evil = `"><img src=x onerror=alert(1)>`;
  await mallory.register("m@example.com", { name: evil });
  for (const path of ["/account", `/sign-in?return_to=${encodeURIComponent(evil)}`]) {
    assert.ok(!(await (await mallory.get(path)).text()).includes("<img src=x"), path);
  }
  const failed = await new Visitor(gateway.address).post("/sign-in", {
    email: evil,
    password: "x",
  });
  assert.ok(!(await failed.text()).includes("<img src=x"));
});

test("a site that is declared to be on https tells browsers to stay there", async () => {
  for (
    const [url, expected] of [
      ["https://gate.example.com", "max-age=31536000"],
      ["http://gate.example.com", null],
      ["https://localhost:8443", null],
      ["https://127.0.0.1:8443", null],
    ] as const
  ) {
    await using gateway = await openGateway({
      config: await configWithSite(`url: ${url}`),
    });
    for (const path of ["/", "/console", "/favicon.svg", "/no-such-page"]) {
      const res = await gateway.fetch(path, { redirect: "manual" });
      await res.body?.cancel();
      assert.equal(res.headers.get("strict-transport-security"), expected, `${url} ${path}`);
    }
  }
});
