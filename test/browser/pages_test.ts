import assert from "node:assert/strict";
import { assertAccessible, assertFits } from "../helpers/axe.ts";
import { browserTest } from "../helpers/chromium.ts";
import { connectAddress } from "../helpers/loopback.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { PASSWORD } from "../helpers/visitor.ts";

const OPEN = [
  "/",
  "/sign-in",
  "/register",
  "/docs",
  "/docs/chat",
  "/docs/tasks",
  "/docs/dramas",
  "/docs/files",
  "/docs/webhooks",
  "/docs/billing",
  "/docs/errors",
  "/docs/connect",
  "/docs/browser-authorization",
  "/docs/reference",
  "/docs/operator",
  "/no-such-page",
  "/connect/browser-auth?client=x",
];

for (const [colorScheme, width] of [["light", 1280], ["dark", 390]] as const) {
  browserTest(`every page is accessible and fits: ${colorScheme}, ${width} px`, async (browser) => {
    await using gateway = await openGateway();
    const context = await browser.browser.newContext({
      colorScheme,
      viewport: { width, height: 800 },
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("status of 40")) {
        complaints.push(message.text());
      }
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    // What is not about colors is checked in the light one.
    const rules = colorScheme === "light" ? "all" : "colors";
    const look = async (path: string) => {
      await page.goto(gateway.address + path);
      await assertFits(page);
      await assertAccessible(page, rules);
    };
    for (const path of OPEN) await look(path);
    await page.goto(`${gateway.address}/register?return_to=/account`);
    await page.getByLabel("Email").fill("ann@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL(/\/account$/);
    await look("/account");
    await look(connectAddress("", "http://127.0.0.1:9/callback"));
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/sent/);
    await assertAccessible(page, rules);
    await assertFits(page);
    // No program listens at that port: that is the only error the browser may report.
    assert.deepEqual(complaints.filter((text) => !text.includes("ERR_UNSAFE_PORT")), []);
  });
}

browserTest(
  "registering and signing in work by keyboard alone, with and without scripts",
  async (browser) => {
    await using gateway = await openGateway();
    for (const javaScriptEnabled of [true, false]) {
      const context = await browser.browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      const email = `ann.${javaScriptEnabled}@example.com`;
      await page.goto(`${gateway.address}/register?return_to=/account`);
      await page.getByLabel("Name").focus();
      for (const text of ["Ann", email, PASSWORD]) {
        await page.keyboard.type(text);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/account$/);
      await page.getByRole("button", { name: "Sign out", exact: true }).press("Enter");
      await page.getByText("Signed out.").waitFor();

      await page.goto(`${gateway.address}/account`);
      assert.match(page.url(), /\/sign-in\?return_to=%2Faccount$/);
      await page.keyboard.type(email);
      await page.keyboard.press("Tab");
      await page.keyboard.type("wrong password");
      await page.keyboard.press("Enter");
      await page.getByText("Incorrect email or password.").waitFor();
      // The address is still there, and the cursor where it is needed.
      assert.equal(await page.getByLabel("Email").inputValue(), email);
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/account$/);
      await context.close();
    }
  },
);

browserTest("the docs show this gateway's own address and models, and copy", async (browser) => {
  await using gateway = await openGateway();
  const context = await browser.browser.newContext();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  await page.goto(`${gateway.address}/docs`);
  const box = page.locator(".code-box").filter({ has: page.locator("#sample-2") });
  await box.getByRole("button", { name: "Copy" }).click();
  await box.getByText("Copied").waitFor();
  // deno-lint-ignore no-explicit-any
  const copied = await page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
  assert.equal(
    copied,
    `curl ${gateway.address}/v1/models \\\n  -H "Authorization: Bearer $TESTGATE_API_KEY"`,
  );
  await page.goto(`${gateway.address}/docs/reference`);
  const document = await (await gateway.fetch("/openapi.json")).json();
  const paths = Object.keys(document.paths).filter((path) => path.startsWith("/v1/"));
  const shown = await page.locator(".call h3").allInnerTexts();
  assert.deepEqual([...new Set(shown)].sort(), paths.sort());
  assert.match(await page.locator("main").innerText(), /"model": "/);
});
