import { type Browser, chromium, type LaunchOptions, type Page } from "playwright-core";

/** A real Chromium without a window, gone with the block that opened it. */
export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
  /** A page of its own: no cookies or storage shared with another. */
  openPage(): Promise<Page>;
}

/** First the build without a window's parts: the same engine for less than half of the processor time. */
const USUAL_PLACES = [
  "/usr/bin/chromium-headless-shell",
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

/** A browser of its own. */
export async function openBrowser(): Promise<OpenBrowser> {
  const browser = await chromium.launch(launchOptions());
  return {
    browser,
    openPage: () => browser.newPage(),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Starts the browser that all tests of a run share; null where there is no Chromium. */
export async function startSharedBrowser(): Promise<{ url: string } & AsyncDisposable | null> {
  if (findChromium() === null) return null;
  const server = await chromium.launchServer(launchOptions());
  return { url: server.wsEndpoint(), [Symbol.asyncDispose]: () => server.close() };
}

function launchOptions(): LaunchOptions {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error("Cannot open a browser: install Chromium, or say in CHROMIUM where it is.");
  }
  return { executablePath, args: QUIET, timeout: TIMEOUT_MS };
}

/** The browser of this file's tests: a connection to the one of the whole run, or one of its own. */
let browser: Browser | null = null;
let hasHooks = false;

/** Opened before the first test and closed after the last, so that no test seems to leak a connection. */
function openBeforeTests(): void {
  if (hasHooks) return;
  hasHooks = true;
  Deno.test.beforeAll(async () => {
    const shared = Deno.env.get("TEST_BROWSER");
    browser = shared === undefined
      ? await chromium.launch(launchOptions())
      : await chromium.connect(shared, { timeout: TIMEOUT_MS });
  });
  Deno.test.afterAll(() => browser?.close());
}

/** A test with a browser. Without Chromium it is skipped, and says so; under `CI` it fails. */
export function browserTest(
  name: string,
  test: (opened: Omit<OpenBrowser, keyof AsyncDisposable>) => Promise<void>,
): void {
  const isMissing = findChromium() === null && !Deno.env.has("CI");
  if (!isMissing) openBeforeTests();
  Deno.test({
    name: isMissing ? `${name} (skipped: no Chromium; CHROMIUM may name one)` : name,
    ignore: isMissing,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      const opened = browser!;
      try {
        await test({ browser: opened, openPage: () => opened.newPage() });
      } finally {
        await Promise.all(opened.contexts().map((context) => context.close()));
      }
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
