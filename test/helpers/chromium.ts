import { type Browser, chromium, type Page } from "playwright-core";
import { freePort } from "./gateway_process.ts";

/** A real Chromium without a window, gone with the block that opened it. */
export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
  /** A page of its own: no cookies or storage shared with another. */
  openPage(): Promise<Page>;
}

const USUAL_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const TIMEOUT_MS = 60_000;

// A test's browser talks to the test's gateway only.
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--autoplay-policy=no-user-gesture-required",
];

/** Where a Chromium is on this machine, `CHROMIUM` first; null where there is none. */
export function findChromium(): string | null {
  const named = Deno.env.get("CHROMIUM");
  return (named ? [named] : USUAL_PLACES).find(isThere) ?? null;
}

/** A connection to the browser that the whole run shares (`TEST_BROWSER`), else a browser of its own. */
export async function openBrowser(): Promise<OpenBrowser> {
  const shared = Deno.env.get("TEST_BROWSER");
  const browser = shared === undefined
    ? await launch()
    : await chromium.connectOverCDP(shared, { timeout: TIMEOUT_MS });
  return {
    browser,
    openPage: () => browser.newPage(),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Starts the browser that all tests of a run share; null where there is no Chromium. */
export async function startSharedBrowser(): Promise<{ url: string } & AsyncDisposable | null> {
  if (findChromium() === null) return null;
  // Chromium prints the port that it was given; Playwright does not.
  const port = freePort();
  const browser = await launch([`--remote-debugging-port=${port}`]);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function launch(more: string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error("Cannot open a browser: install Chromium, or say in CHROMIUM where it is.");
  }
  return await chromium.launch({ executablePath, args: [...QUIET, ...more], timeout: TIMEOUT_MS });
}

/** A test with a browser. Without Chromium it is skipped, and says so; under `CI` it fails. */
export function browserTest(name: string, test: (opened: OpenBrowser) => Promise<void>): void {
  const isMissing = findChromium() === null && !Deno.env.has("CI");
  Deno.test({
    name: isMissing ? `${name} (skipped: no Chromium; CHROMIUM may name one)` : name,
    ignore: isMissing,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      await using opened = await openBrowser();
      await test(opened);
    },
  });
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
