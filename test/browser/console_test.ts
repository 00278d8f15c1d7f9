import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { Buffer } from "node:buffer";
import { until } from "../helpers/chat_gateway.ts";
import { browserTest } from "../helpers/chromium.ts";
import { openConsole, shippedWith } from "../helpers/console_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";

/** The machine that runs this may be busy. */
const PATIENCE = { timeout: 60_000 };

/** Fails the test on anything the browser complains of: a script error, something the policy refused. */
function watch(page: Page): string[] {
  page.setDefaultTimeout(PATIENCE.timeout);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return complaints;
}

/** By the debugger's door: the page's own policy forbids it to evaluate text. */
function holds(page: Page, expression: string): Promise<void> {
  return until(expression, async () => Boolean(await page.evaluate(expression)), 60);
}

browserTest(
  "a new person creates a key, uses it, and revokes it",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    const page = await openPage();
    const complaints = watch(page);
    await page.goto(`${gateway.address}/register`);
    await page.getByLabel("Email").fill("new@example.org");
    await page.getByLabel("Password").fill("a sentence hard to guess");
    await page.locator("main form button").click();
    await page.getByRole("heading", { name: "Get started" }).waitFor();

    await page.getByRole("link", { name: "Create API key" }).click();
    await page.getByLabel("Name").fill("laptop");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.locator("#new-key").innerText();
    assert.match(key, /^sk-[0-9A-Za-z]{43}$/);
    const call = async () => {
      const res = await gateway.fetch("/v1/models", {
        headers: { authorization: `Bearer ${key}` },
      });
      await res.body?.cancel();
      return res.status;
    };
    assert.equal(await call(), 200);

    await page.reload();
    await page.getByText("This key was already shown").waitFor();
    await page.getByText("1 active key").waitFor();
    assert.ok(!(await page.content()).includes(key));
    const revoke = page.locator("summary", { hasText: "Revoke" });
    const question = page.getByText("Requests using this key will fail immediately.");
    await revoke.click();
    await question.waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    await revoke.click();
    await question.waitFor();
    await page.getByRole("heading", { name: "API keys" }).click();
    await question.waitFor({ state: "hidden" });
    await revoke.click();
    await page.getByRole("button", { name: "Revoke laptop" }).click();
    await page.getByText("API key revoked: laptop").waitFor();
    assert.equal(await call(), 401);
    assert.deepEqual(complaints, []);
  },
);

browserTest("a chat is written as it comes, and goes on", async ({ openPage }) => {
  await using gateway = await openConsole({ environment: { SIMULATE: "pace=20ms" } });
  const page = await openPage();
  const complaints = watch(page);
  await gateway.person.takeOver(page);
  await page.goto(`${gateway.address}/console/models/sim-chat`);
  await page.getByText("Estimated maximum: $0.0").waitFor();
  await page.evaluate(`
    globalThis.pieces = 0;
    new MutationObserver(() => pieces++).observe(
      document.querySelector("[data-conversation]"), { childList: true, subtree: true });`);
  await page.getByLabel("Your message").fill("Tell me about toll gates");
  await page.keyboard.press("Enter");
  const send = page.getByRole("button", { name: "Send" });
  const isDone = () =>
    holds(
      page,
      `!document.querySelector("[data-playground]").hasAttribute("aria-busy") &&
       JSON.parse(document.querySelector("[name=history]").value).length`,
    );
  await isDone();
  assert.ok(await page.evaluate("pieces") as number > 4, "it came in pieces");
  await page.getByLabel("Your message").fill("Go on");
  await send.click();
  await holds(page, `JSON.parse(document.querySelector("[name=history]").value).length === 4`);
  assert.equal(await page.locator(".message").count(), 4);
  const stored = await page.evaluate("localStorage.length + sessionStorage.length");
  assert.equal(stored, 0);
  assert.ok(!/sk-[0-9A-Za-z]{43}/.test(await page.content()));
  assert.deepEqual(complaints, []);
  await gateway.verify();
});

browserTest("a stopped chat is paid for as far as it came", async ({ openPage }) => {
  await using gateway = await openConsole({ environment: { SIMULATE: "pace=100ms" } });
  const page = await openPage();
  watch(page);
  await gateway.person.takeOver(page);
  await page.goto(`${gateway.address}/console/models/sim-chat`);
  await page.getByLabel("Your message").fill("Tell me a long story about toll gates");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".message-assistant .message-text").filter({ hasText: /\w/ }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await holds(page, `!document.querySelector("[data-playground]").hasAttribute("aria-busy")`);
  const { sql } = gateway.gateway.database;
  await until(
    "it is settled",
    async () => (await sql`select from receipt where state = 'settled'`).length === 1,
  );
  await gateway.verify();
});

browserTest("an image and a video are generated and shown", async ({ openPage }) => {
  await using gateway = await openConsole();
  const page = await openPage();
  const complaints = watch(page);
  await gateway.person.takeOver(page);
  await page.goto(`${gateway.address}/console/models/sim-image`);
  await page.getByLabel("Prompt").fill("A lighthouse in the rain");
  await page.getByLabel("Size").selectOption("512x512");
  await page.getByText("Estimated maximum: $0.04").waitFor();
  await page.getByRole("button", { name: "Generate" }).click();
  const image = page.locator(".preview img");
  await image.waitFor();
  await holds(page, `document.querySelector(".preview img").naturalWidth === 512`);

  await page.goto(`${gateway.address}/console/models/sim-video`);
  await page.getByLabel("Prompt").fill("Waves");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.locator(".preview video").waitFor();
  await holds(page, `Math.abs(document.querySelector(".preview video").duration - 5) < 0.5`);
  await page.getByRole("link", { name: "View task and receipt" }).click();
  await page.getByRole("heading", { name: "Receipt" }).waitFor();
  assert.ok((await page.locator("main").innerText()).includes("$0.25"));
  await page.goto(`${gateway.address}/console/tasks?status=succeeded`);
  assert.equal(await page.locator("tbody tr").count(), 2);
  assert.deepEqual(complaints, []);
  await gateway.verify();
});

browserTest(
  "speech is played, and an avatar speaks an uploaded audio file",
  async ({ openPage }) => {
    await using gateway = await openConsole();
    const page = await openPage();
    const complaints = watch(page);
    await gateway.person.takeOver(page);
    await page.goto(`${gateway.address}/console/models/sim-speech`);
    await page.getByLabel("Text").fill("Good morning to you");
    await page.getByRole("button", { name: "Generate" }).click();
    await page.locator(".result audio").waitFor();
    await holds(page, `document.querySelector(".result audio").duration > 0`);
    // The audio comes from the simulator, the image is a screenshot.
    const speech = await gateway.person.post("/console/models/sim-speech/run", {
      input: "Good morning",
      voice: "alma",
      response_format: "mp3",
      speed: "1",
    }, { accept: "audio/*" });
    const audio = Buffer.from(await speech.arrayBuffer());
    await page.goto(`${gateway.address}/console/models/sim-avatar`);
    const png = await page.screenshot({ clip: { x: 0, y: 0, width: 200, height: 200 } });
    await page.getByLabel("Portrait image").setInputFiles([
      { name: "ann.png", mimeType: "image/png", buffer: Buffer.from(png) },
    ]);
    await page.getByLabel("Audio").setInputFiles([
      { name: "hello.mp3", mimeType: "audio/mpeg", buffer: audio },
    ]);
    await page.getByRole("button", { name: "Generate" }).click();
    await page.locator(".preview video").waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest(
  "a webhook endpoint gets a test event, and shows what became of it",
  async ({ openPage }) => {
    await using receiver = startReceiver();
    await using gateway = await openConsole({
      config: await shippedWith("outbound:\n  allow_private: true\n"),
    });
    const page = await openPage();
    const complaints = watch(page);
    await gateway.person.takeOver(page);
    await page.goto(`${gateway.address}/console/webhooks`);
    await page.getByLabel("Endpoint URL").fill(`${receiver.url}/events`);
    await page.getByRole("button", { name: "Create endpoint" }).click();
    assert.match(await page.locator("#webhook-secret").innerText(), /^whsec_/);
    await page.reload();
    assert.match(await page.locator("#webhook-secret").innerText(), /^whsec_/);
    await page.getByRole("link", { name: "Endpoint", exact: true }).click();
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    assert.equal(receiver.received[0]!.event.type, "webhook.test");
    await page.getByRole("button", { name: "Redeliver" }).click();
    await page.getByText("Redelivery queued.").waitFor();
    assert.deepEqual(complaints, []);
  },
);

browserTest("an operator credits an account and sees it", async ({ openPage }) => {
  await using gateway = await openConsole();
  await gateway.person.makeOperator();
  const customer = await gateway.register("bob@example.org");
  const page = await openPage();
  const complaints = watch(page);
  await gateway.person.takeOver(page);
  await page.goto(`${gateway.address}/console/operator/accounts`);
  await page.getByLabel("Search").fill("bob@");
  await page.getByRole("button", { name: "Search" }).click();
  await page.locator("tbody a").click();
  await page.getByLabel("Amount in USD").fill("12.50");
  await page.getByLabel("Reference").fill("invoice 17");
  await page.getByRole("button", { name: "Add credit" }).click();
  await page.getByText("Added $12.50 cash (invoice 17).").waitFor();
  const balance = await (await customer.get("/console/api/balance")).json();
  assert.equal(balance.available_balance, "12.50");
  assert.deepEqual(complaints, []);
});

browserTest(
  "without scripts a key is made, a chat answered and a task reached",
  async ({ browser }) => {
    await using gateway = await openConsole();
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
    await gateway.person.takeOver(page);
    await page.goto(`${gateway.address}/console/keys`);
    await page.getByLabel("Name").fill("server");
    await page.getByRole("button", { name: "Create key" }).click();
    assert.match(await page.locator("#new-key").innerText(), /^sk-/);
    await page.goto(`${gateway.address}/console/models/sim-chat`);
    await page.getByLabel("Your message").fill("Hello");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".message-assistant").waitFor();
    await page.goto(`${gateway.address}/console/models/sim-image`);
    await page.getByLabel("Prompt").fill("A tide");
    await page.getByRole("button", { name: "Generate" }).click();
    await page.waitForURL("**/console/tasks/task_*");
    await context.close();
  },
);

browserTest("a new result replaces the error of the one before", async ({ openPage }) => {
  await using gateway = await openConsole({ environment: { SIMULATE: "tokens=5" } });
  const page = await openPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  await gateway.person.takeOver(page);
  const submit = async (prompt: string) => {
    await page.getByLabel("Prompt").fill(prompt);
    await page.getByRole("button", { name: "Generate" }).click();
  };
  await page.goto(`${gateway.address}/console/models/sim-image`);
  await submit("A tide [[simulate: status=400]]");
  await page.locator(".result .notice").waitFor();
  await submit("A tide");
  await page.locator(".preview img").waitFor();
  assert.equal(await page.locator(".notice").count(), 0);

  await page.goto(`${gateway.address}/console/models/sim-chat`);
  for (const text of ["Hello [[simulate: status=400]]", "Hello"]) {
    await page.getByLabel("Your message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
    const isError = text.includes("simulate");
    await page.locator(isError ? ".conversation .notice" : ".message-assistant").waitFor();
  }
  assert.equal(await page.locator(".conversation .notice").count(), 0);
  assert.equal(await page.locator(".message-user").count(), 1);
});

browserTest(
  "times are in the visitor's zone, amounts stay in one line, and the skip link works",
  async ({ browser }) => {
    await using gateway = await openConsole({ cash: "1234567.123456" });
    for (const width of [1280, 390]) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        timezoneId: "Asia/Tokyo",
      });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE.timeout);
      await gateway.person.takeOver(page);
      const made = await gateway.person.post("/console/models/sim-chat/run", { prompt: "Hello" });
      await made.body?.cancel();
      await page.goto(`${gateway.address}/console/billing`);
      const heights = await page.evaluate(`[...document.querySelectorAll(".money")].map((amount) =>
        amount.getBoundingClientRect().height / parseFloat(getComputedStyle(amount).fontSize)
      )`) as number[];
      assert.ok(heights.length > 4 && heights.every((lines) => lines < 2), String(heights));
      assert.ok(!await page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"));

      await page.getByRole("link", { name: "Request to sim-chat" }).first().click();
      const time = page.locator('time[data-time="time"]').first();
      const instant = new Date((await time.getAttribute("datetime"))!);
      const local = new Date(instant.getTime() + 9 * 3600_000).toISOString().slice(11, 19);
      assert.match(await time.innerText(), new RegExp(`${local} GMT\\+9$`));
      assert.match((await time.getAttribute("title"))!, / UTC$/);

      await page.keyboard.press("Tab");
      await holds(page, `document.activeElement.textContent === "Skip to content"`);
      await page.keyboard.press("Enter");
      await holds(page, `document.activeElement.id === "main"`);
      await context.close();
    }
  },
);
