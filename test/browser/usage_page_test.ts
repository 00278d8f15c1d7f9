import assert from "node:assert/strict";
import type { Download } from "playwright-core";
import { browserTest } from "../helpers/chromium.ts";
import { openConsole, shippedWith } from "../helpers/console_gateway.ts";

browserTest(
  "the usage page sums up by day, model and key, and downloads the same as CSV",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const { key } = await (await gateway.admin("POST", `/accounts/${person.account}/keys`, {
      name: "laptop",
    })).json();
    const called = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim-chat", messages: [{ role: "user", content: "Hello" }] }),
    });
    assert.equal(called.status, 200, await called.text());
    await (await person.post("/console/models/sim-embedding/run", { input: "A gate" })).body
      ?.cancel();

    const page = await openPage();
    await person.takeOver(page);
    await page.goto(`${gateway.address}/console`);
    await page.getByRole("link", { name: "Usage", exact: true }).click();
    const rows = page.locator("tbody tr");
    assert.equal(await rows.count(), 1);
    assert.match(
      await rows.innerText(),
      /\d{4}\s+2\s+0\s+[\d,]+ input tokens, [\d,]+ output tokens/,
    );

    await page.getByRole("link", { name: "Model", exact: true }).click();
    assert.deepEqual(await page.locator("tbody tr td:first-child").allInnerTexts(), [
      "sim-chat",
      "sim-embedding",
    ]);
    await page.getByRole("link", { name: "API key", exact: true }).click();
    assert.deepEqual(await page.locator("tbody tr td:first-child").allInnerTexts(), [
      "laptop",
      "Console",
    ]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const csv = await readDownload(download);
    assert.match(csv, /^key,key_name,requests,failed,charged/);
    assert.equal(csv.trim().split("\r\n").length, 3);

    await page.getByLabel("Before (UTC)").fill("2020-01-02");
    await page.getByLabel("From (UTC)").fill("2020-01-01");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("No usage in this period").waitFor();
    assert.match(page.url(), /by=key/);
  },
);

browserTest("an error of the API is shown on the usage page", async ({ openPage }) => {
  const shipped = await shippedWith();
  await using gateway = await openConsole({
    config: shipped.replace(/(operation: usage), stage: \w+/, "$1, stage: planned"),
  });
  const page = await openPage();
  await gateway.person.takeOver(page);
  const response = await page.goto(`${gateway.address}/console/usage`);
  assert.equal(response?.status(), 501);
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /not released/);
});

/** Also of a browser that another process has started, whose files are not known here. */
async function readDownload(download: Download): Promise<string> {
  const file = await Deno.makeTempFile();
  try {
    await download.saveAs(file);
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(file);
  }
}
