import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { browserTest } from "../helpers/chromium.ts";
import { connectAddress, openLoopback } from "../helpers/loopback.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { PASSWORD } from "../helpers/visitor.ts";
import { freePort } from "../../scripts/free_port.ts";

const KEY = /^sk-[0-9A-Za-z]{43}$/;

/** Everything the browser asked for or showed in its address bar on our site must be free of the key. */
function watch(page: Page, site: string): { addresses: string[]; referrers: string[] } {
  const seen = { addresses: [] as string[], referrers: [] as string[] };
  page.on("framenavigated", (frame) => seen.addresses.push(frame.url()));
  page.on("request", (request) => {
    if (request.url().startsWith(site)) seen.addresses.push(request.url());
    else seen.referrers.push(request.headers().referer ?? "");
  });
  return seen;
}

async function register(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("Email").fill("ann@example.com");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
}

async function statusWith(site: string, key: string): Promise<number> {
  const res = await fetch(`${site}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await res.body?.cancel();
  return res.status;
}

for (const host of ["127.0.0.1", "localhost"]) {
  browserTest(
    `a program gets its key at ${host}, quietly, after sign-in and consent`,
    async (browser) => {
      await using gateway = await openGateway();
      await using program = openLoopback();
      const page = await browser.openPage();
      const seen = watch(page, gateway.address);
      await page.goto(
        connectAddress(gateway.address, `http://${host}:${program.port}/callback`),
      );
      assert.match(page.url(), /\/sign-in\?return_to=/);
      await register(page);
      assert.equal(
        await page.getByRole("heading", { level: 1 }).innerText(),
        "Give my-terminal an API key?",
      );
      const called = program.next();
      await page.getByRole("button", { name: "Allow" }).click();
      const answer = await called;
      assert.equal(answer.get("state"), "s t/a+t&e=1");
      assert.match(answer.get("api_key")!, KEY);
      assert.deepEqual([...answer.keys()].sort(), ["api_key", "state"]);
      await page.getByText("Key delivered.").waitFor();
      assert.equal(await statusWith(gateway.address, answer.get("api_key")!), 200);

      // The page stays on the site, and the key is nowhere on it.
      assert.match(page.url(), /\/connect\/browser-auth\/sent\?ticket=/);
      assert.ok(!(await page.content()).includes(answer.get("api_key")!));
      assert.ok(
        seen.addresses.every((address) => !address.includes("sk-")),
        seen.addresses.join("\n"),
      );
      assert.ok(program.headers.every((headers) => headers.get("referer") === null));
      // Cookies know no port: only another host name shows that ours are not sent along.
      if (host === "localhost") assert.equal(program.headers[0]!.get("cookie"), null);
    },
  );
}

browserTest("authorizing again replaces the key at once", async (browser) => {
  await using gateway = await openGateway();
  await using program = openLoopback();
  const page = await browser.openPage();
  const address = connectAddress(gateway.address, `http://127.0.0.1:${program.port}/callback`);
  await page.goto(address);
  await register(page);
  const keys: string[] = [];
  for (let time = 0; time < 2; time++) {
    if (time > 0) {
      await page.goto(address);
      await page.getByText("stops working immediately").waitFor();
    }
    const called = program.next();
    await page.getByRole("button", { name: "Allow" }).click();
    keys.push((await called).get("api_key")!);
  }
  assert.equal(await statusWith(gateway.address, keys[0]!), 401);
  assert.equal(await statusWith(gateway.address, keys[1]!), 200);
  const names = await gateway.gateway.database.sql`
    select name from api_key where revoked_at is null and name like 'BA:%'`;
  assert.deepEqual(names.map(({ name }) => name), ["BA:my-terminal"]);
});

browserTest("refusing tells the program, and makes no key", async (browser) => {
  await using gateway = await openGateway();
  await using program = openLoopback();
  const page = await browser.openPage();
  await page.goto(connectAddress(gateway.address, `http://127.0.0.1:${program.port}/callback`));
  await register(page);
  const called = program.next();
  await page.getByRole("button", { name: "Deny" }).click();
  assert.equal(String(await called), "error=access_denied&state=s+t%2Fa%2Bt%26e%3D1");
  await page.waitForURL(/127\.0\.0\.1:\d+\/callback\?error=access_denied/);
  const [row] = await gateway.gateway.database.sql`
    select count(*)::int as keys from api_key where name like 'BA:%'`;
  assert.equal(row!.keys, 0);
});

browserTest(
  "when the program does not listen, the page says so and sends the key by redirect",
  async (browser) => {
    await using gateway = await openGateway();
    const port = freePort();
    const page = await browser.openPage();
    await page.goto(connectAddress(gateway.address, `http://127.0.0.1:${port}/callback`));
    await register(page);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("The program did not respond.").waitFor();

    const arrived = Promise.withResolvers<URLSearchParams>();
    await using _late = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/callback") arrived.resolve(searchParams);
      return new Response("thank you");
    });
    await page.getByRole("button", { name: "Send by redirect" }).click();
    const answer = await arrived.promise;
    assert.equal(answer.get("state"), "s t/a+t&e=1");
    assert.equal(await statusWith(gateway.address, answer.get("api_key")!), 200);

    // Each way works once.
    await page.getByText("thank you").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Send by redirect" }).click();
    await page.getByText("Authorization expired").waitFor();
  },
);

browserTest("without scripts, consent leads to a button that sends the key", async (browser) => {
  await using gateway = await openGateway();
  await using program = openLoopback();
  const context = await browser.browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(connectAddress(gateway.address, `http://127.0.0.1:${program.port}/callback`));
  await register(page);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("One step left").waitFor();
  const called = program.next();
  await page.getByRole("button", { name: "Send by redirect" }).click();
  assert.equal(await statusWith(gateway.address, (await called).get("api_key")!), 200);
});

browserTest("another browser cannot take the key that waits", async (browser) => {
  await using gateway = await openGateway();
  const page = await browser.openPage();
  await page.goto(connectAddress(gateway.address, `http://127.0.0.1:${freePort()}/callback`));
  await register(page);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(/\/sent\?ticket=/);
  const result = page.url();

  const other = await browser.openPage();
  await other.goto(`${gateway.address}/register`);
  await other.getByLabel("Email").fill("bob@example.com");
  await other.getByLabel("Password").fill(PASSWORD);
  await other.getByRole("button", { name: "Create account" }).click();
  await other.goto(result);
  await other.getByText("Authorization expired").waitFor();
});

browserTest("a state comes back as it was, whatever is in it", async (browser) => {
  await using gateway = await openGateway();
  await using program = openLoopback();
  const page = await browser.openPage();
  const states = ["a\nb\r\nc\rd", "%41%2B+ \\ ?#&=", "ü 水 \u{1f511} \u202e", "x".repeat(1024)];
  for (const [at, state] of states.entries()) {
    const redirect = `http://127.0.0.1:${program.port}/callback`;
    await page.goto(connectAddress(gateway.address, redirect, { state }));
    if (at === 0) await register(page);
    for (const decision of ["Allow", "Deny"]) {
      const called = program.next();
      await page.getByRole("button", { name: decision }).click();
      assert.equal((await called).get("state"), state, decision);
      await page.goto(connectAddress(gateway.address, redirect, { state }));
    }
  }
});
