import assert from "node:assert/strict";
import { browserTest } from "../helpers/chromium.ts";
import { startConnect } from "../helpers/connect_client.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { PASSWORD } from "../helpers/visitor.ts";

for (const decision of ["Allow", "Deny"] as const) {
  browserTest(`the reference client, when the person chooses ${decision}`, async (browser) => {
    await using gateway = await openGateway();
    const client = startConnect(gateway.address);
    const entry = await client.entry;
    // A request with the right port and a guessed state is refused.
    const port = new URL(new URL(entry).searchParams.get("redirect_uri")!).port;
    const forged = await fetch(`http://127.0.0.1:${port}/callback?api_key=sk-evil&state=guess`);
    assert.equal(forged.status, 400);
    await forged.body?.cancel();

    const page = await browser.openPage();
    await page.goto(entry);
    await page.getByRole("link", { name: "Create an account" }).click();
    await page.getByLabel("Email").fill("ann@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("button", { name: decision }).click();
    const { code, said, output } = await client.ended;
    if (decision === "Deny") {
      assert.equal(code, 1);
      assert.match(said, /denied in the browser/);
      assert.equal(output, "");
      // A window that was sent to the program is led on to an address without the answer in it.
      await page.waitForURL(/\/done$/);
    } else {
      assert.equal(code, 0, said);
      assert.match(output, /^sk-[0-9A-Za-z]{43}$/);
      assert.match(said, /The key works: \d+ models/);
      await page.getByText("Key delivered.").waitFor();
    }
  });
}
