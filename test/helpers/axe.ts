import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Finding {
  id: string;
  impact: string | null;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Checks that the page works with a screen reader and without a mouse. */
export async function assertAccessible(page: Page): Promise<void> {
  // Evaluated, not added as a script: the page's own policy allows none but ours.
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async () => {
    // deno-lint-ignore no-explicit-any
    const found = await (globalThis as any).axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    });
    return found.violations;
  }) as Finding[];
  const grave = findings.filter(({ impact }) => impact === "serious" || impact === "critical");
  const told = grave.map(({ id, help, nodes }) =>
    `${id}: ${help}\n  ${
      nodes.map(({ html, failureSummary }) => `${html}\n  ${failureSummary}`).join("\n  ")
    }`
  );
  assert.deepEqual(told, [], `${page.url()}:\n${told.join("\n")}`);
}

/** Whether something is wider than the window, so that a phone would scroll sideways. */
export async function assertFits(page: Page): Promise<void> {
  const excess = await page.evaluate(() =>
    // deno-lint-ignore no-explicit-any
    (globalThis as any).document.documentElement.scrollWidth - (globalThis as any).innerWidth
  );
  assert.ok(excess <= 0, `${page.url()} is ${excess} px too wide`);
}
