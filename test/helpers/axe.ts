import assert from "node:assert/strict";
import axe, { type AxeResults, type RunOptions } from "axe-core";
import type { Page } from "playwright-core";

/** The reference repeats one shape for each operation: a few of them show it, and all of them take seconds. */
const REPEATED = { selector: ".call", kept: 4 };

/** Everything, or only what another color scheme can change. */
type Rules = "all" | "colors";

/** What keeps the page from working with a screen reader, without a mouse, or with weak eyes. */
export async function accessibilityFaults(page: Page, rules: Rules = "all"): Promise<string[]> {
  // Evaluated, not added as a script: the page's own policy allows none but ours.
  await page.evaluate(axe.source);
  await page.evaluate(({ selector, kept }) => {
    // deno-lint-ignore no-explicit-any
    const all = [...(globalThis as any).document.querySelectorAll(selector)];
    for (const element of all.slice(kept)) element.remove();
  }, REPEATED);
  const options: RunOptions = {
    runOnly: rules === "colors"
      ? { type: "rule", values: ["color-contrast", "link-in-text-block"] }
      : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    // Of what is well, one element each: describing all of them takes most of the time.
    resultTypes: ["violations"],
  };
  const { violations, passes } = await page.evaluate(
    // deno-lint-ignore no-explicit-any
    (options) => (globalThis as any).axe.run(options),
    options,
  ) as AxeResults;
  assert.ok(passes.some(({ id }) => id === "color-contrast"), "axe has looked");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) =>
      `${id}: ${help}\n  ${
        nodes.map(({ html, failureSummary }) => `${html}\n  ${failureSummary}`).join("\n  ")
      }`
    );
}

export async function assertAccessible(page: Page, rules: Rules = "all"): Promise<void> {
  const faults = await accessibilityFaults(page, rules);
  assert.deepEqual(faults, [], `${page.url()}:\n${faults.join("\n")}`);
}

/** Whether something is wider than the window, so that a phone would scroll sideways. */
export async function assertFits(page: Page): Promise<void> {
  const excess = await page.evaluate(() =>
    // deno-lint-ignore no-explicit-any
    (globalThis as any).document.documentElement.scrollWidth - (globalThis as any).innerWidth
  );
  assert.ok(excess <= 0, `${page.url()} is ${excess} px too wide`);
}
