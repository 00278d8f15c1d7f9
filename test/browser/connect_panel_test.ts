import assert from "node:assert/strict";
import { accessibilityFaults } from "../helpers/axe.ts";
import { browserTest } from "../helpers/chromium.ts";
import { openConsole } from "../helpers/console_gateway.ts";

const KEY = /sk-[0-9A-Za-z]{43}/;

browserTest(
  "clients are chosen by keyboard, keep their choice with another model, and are copied",
  async ({ browser }) => {
    await using gateway = await openConsole();
    const context = await browser.newContext();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    await page.goto(`${gateway.address}/docs/connect`);
    const chosen = () => page.locator("input[name=client]:checked").getAttribute("value");
    const shown = page.locator(".client-setup:visible");
    assert.equal(await chosen(), "claude-code");
    await page.getByLabel("Model").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    for (let moves = 0; moves < 6; moves++) await page.keyboard.press("ArrowRight");
    assert.equal(await chosen(), "openai");
    assert.equal(await shown.count(), 1);
    // From the choice the next stop is the chosen client's own code.
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.id"), "setup-openai-1");

    await page.getByLabel("Model").selectOption("sim-embedding");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/model=sim-embedding&client=openai/);
    assert.equal(await chosen(), "openai");
    await shown.getByRole("button", { name: "Copy" }).first().click();
    await shown.getByText("Copied").first().waitFor();
    // deno-lint-ignore no-explicit-any
    const copied = await page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
    assert.ok(copied.includes(`baseURL: "${gateway.address}/v1"`));
    assert.match(copied, /client\.embeddings\.create\({\n {2}model: "sim-embedding"/);
  },
);

browserTest("without scripts a client is chosen all the same", async ({ browser }) => {
  await using gateway = await openConsole();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${gateway.address}/docs/connect?client=codex`);
  await page.getByText('model_provider = "tollgate"').waitFor();
  await page.getByText("curl", { exact: true }).click();
  await page.locator(".client-setup:visible").getByText("/v1/responses").waitFor();
  assert.equal(await page.locator(".client-setup:visible").count(), 1);
});

browserTest(
  "only the page that shows a new key has it in its settings; others have a placeholder",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    const page = await openPage();
    await gateway.person.takeOver(page);
    for (const path of ["/docs/connect", "/console/models/sim-chat"]) {
      await page.goto(gateway.address + path);
      assert.doesNotMatch(await page.content(), KEY);
      assert.match(await page.content(), /YOUR_API_KEY/);
    }
    await page.goto(`${gateway.address}/console/keys`);
    await page.getByLabel("Name").fill("laptop");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.locator("#new-key").innerText();
    const settings = await page.locator("#setup-claude-code-2").innerText();
    assert.equal(JSON.parse(settings).env.ANTHROPIC_AUTH_TOKEN, key);
    assert.equal(
      await page.locator("#key-command").innerText(),
      `export TOLLGATE_API_KEY="${key}"`,
    );
    assert.deepEqual(await accessibilityFaults(page, "all"), []);
  },
);

browserTest(
  "a new key is shown with a model that it may use, or with none",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    const page = await openPage();
    await gateway.person.takeOver(page);
    const create = async (models: string) => {
      await page.goto(`${gateway.address}/console/keys`);
      await page.getByLabel("Name").fill("narrow");
      await page.getByText("Restrictions").click();
      await page.getByLabel("Models").fill(models);
      await page.getByRole("button", { name: "Create key" }).click();
      await page.locator("#new-key").waitFor();
    };
    await create("sim-chat");
    await page.getByText("here to Simulated Chat").waitFor();
    await create("sim-image");
    assert.equal(await page.locator("input[name=client]").count(), 0);
  },
);
