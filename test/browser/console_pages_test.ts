import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { accessibilityFaults } from "../helpers/axe.ts";
import { until } from "../helpers/chat_gateway.ts";
import { browserTest } from "../helpers/chromium.ts";
import { type ConsoleGateway, openConsole, shippedWith } from "../helpers/console_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";

const SCRIPT_BYTES_MAX = 60 * 1024;
const MISSING = "/console/nowhere";

/** Something of everything, so that every page has something to show; resolves to the pages. */
async function furnish(gateway: ConsoleGateway, receiver: string): Promise<string[]> {
  const { person } = gateway;
  await person.makeOperator();
  await (await gateway.admin("PUT", `/accounts/${person.account}/plan`, { plan: "pro" })).body
    ?.cancel();
  await (await person.post("/console/keys", { name: "laptop" })).body?.cancel();
  const made = await person.post("/console/webhooks", { url: receiver });
  await made.body?.cancel();
  const endpoint = /we_[0-9a-z]+/.exec(made.headers.get("location")!)![0];
  const tested = await person.post(`/console/webhooks/${endpoint}/test`, {});
  await tested.body?.cancel();
  const chat = await person.post("/console/models/sim-chat/run", { prompt: "Hello" });
  await chat.body?.cancel();
  const image = await person.post("/console/models/sim-image/run", {
    prompt: "A tide",
    size: "512x512",
    n: "1",
  });
  await image.body?.cancel();
  const task = image.headers.get("location")!;
  await until("the image is there", async () => (await person.read(task)).includes("<img"), 60);
  const receipt = /receipts\/(req_[0-9a-z]+)/.exec(await person.read("/console/billing"))![1]!;
  const key = await person.post("/console/keys", {
    name: "laptop",
    models: "sim-chat, sim-im*",
    expires_on: "2100-01-01",
    allowed_ips: "10.0.0.0/8",
    requests_per_minute: "30",
    budget_amount: "10.00",
  });
  await key.body?.cancel();
  const keyPath = /href="(\/console\/keys\/key_[0-9a-z]+)"/.exec(
    await person.read("/console/keys"),
  )![1]!;
  const token = await person.post("/console/operator/tokens", { name: "robot", read: "on" });
  await token.body?.cancel();
  const types = ["chat-pro", "image", "video", "avatar", "drama", "speech"];
  return [
    "/console",
    MISSING,
    "/console/keys",
    keyPath,
    "/console/models",
    ...types.map((type) => `/console/models/sim-${type}`),
    "/console/requests",
    `/console/requests/${receipt}`,
    "/console/usage",
    "/console/usage?by=key",
    "/console/tasks",
    task,
    "/console/webhooks",
    `/console/webhooks/${endpoint}`,
    `/console/webhooks/${endpoint}/secret`,
    tested.headers.get("location")!,
    "/console/billing",
    `/console/billing/receipts/${receipt}`,
    "/console/operator/accounts",
    `/console/operator/accounts/${person.account}`,
    "/console/operator/requests",
    `/console/operator/requests/${receipt}`,
    "/console/operator/margins",
    "/console/operator/configuration",
    "/console/operator/providers",
    "/console/operator/queue?view=all",
    "/console/operator/tokens",
    "/console/operator/audit",
  ];
}

interface Look {
  width: number;
  colorScheme: "light" | "dark";
}

const LOOKS: readonly Look[] = [
  { width: 1280, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
];

/** Opens pages and returns their faults: of accessibility, text outside the window, errors of the browser. */
async function openCritic(browser: Browser, gateway: ConsoleGateway, look: Look) {
  const { width, colorScheme } = look;
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await gateway.person.takeOver(page);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // A page that is not there is one of those looked at.
    const isExpected = message.text().includes("status of 404") &&
      message.location().url.endsWith(MISSING);
    if (message.type() === "error" && !isExpected) complaints.push(message.text());
  });
  return async (path: string): Promise<string[]> => {
    await page.goto(gateway.address + path);
    // What is not about colors was checked in the other one.
    const faults = await accessibilityFaults(page, colorScheme === "light" ? "all" : "colors");
    const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth + 1");
    if (isWide) faults.push("it is wider than the window");
    return [...faults, ...complaints.splice(0)]
      .map((fault) => `${path} at ${width} in ${colorScheme}: ${fault}`);
  };
}

browserTest(
  "every page of the console is accessible, wide and narrow, light and dark",
  async ({ browser }) => {
    await using receiver = startReceiver();
    await using gateway = await openConsole({
      config: await shippedWith("outbound:\n  allow_private: true\n"),
    });
    const pages = await furnish(gateway, receiver.url);
    const faults: string[] = [];
    for (const look of LOOKS) {
      const criticise = await openCritic(browser, gateway, look);
      for (const path of pages) faults.push(...await criticise(path));
    }
    for (const path of pages) {
      const size = await scriptBytes(gateway, path);
      if (size > SCRIPT_BYTES_MAX) faults.push(`${path}: ${size} bytes of script`);
    }
    assert.deepEqual(faults, []);
  },
);

/** What a page's scripts weigh on the way. */
async function scriptBytes(gateway: ConsoleGateway, path: string): Promise<number> {
  let size = 0;
  // Also of a page that says that there is none.
  const page = await (await gateway.person.get(path)).text();
  for (const [, address] of page.matchAll(/<script[^>]* src="([^"]+)"/g)) {
    size += gzipSync(await (await gateway.fetch(address!)).text()).length;
  }
  assert.ok(size > 0, `${path} has scripts`);
  return size;
}
