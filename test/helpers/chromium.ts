import { type Browser, chromium, type Page } from "playwright-core";

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

export async function openBrowser(): Promise<OpenBrowser> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error("Cannot open a browser: install Chromium, or say in CHROMIUM where it is.");
  }
  const browser = await chromium.launch({ executablePath, args: QUIET, timeout: 60_000 });
  return {
    browser,
    openPage: () => browser.newPage(),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A test with a browser of its own. Without Chromium it is skipped, and says so; under `CI` it fails. */
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
