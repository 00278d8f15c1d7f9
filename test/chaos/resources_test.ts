import assert from "node:assert/strict";
import { Findings } from "./findings.ts";
import { auditResources, describeResources, type Sample } from "./resources.ts";

const MIB = 1024 * 1024;
const sampleOf = (more: Partial<Sample> = {}): Sample => ({
  memory: 200 * MIB,
  descriptors: 60,
  tables: { hold: 40_000, receipt: MIB },
  ...more,
});

/** Sixteen samples; the last quarter as given. */
function brokenBy(late: Partial<Sample>): string[] {
  const findings = new Findings();
  const samples = Array.from({ length: 16 }, (_, at) => sampleOf(at < 12 ? {} : late));
  auditResources(samples, findings);
  return findings.violations.map(({ text }) => text);
}

Deno.test("what stays level is no violation, and neither is a history that grows", () => {
  assert.deepEqual(brokenBy({}), []);
  assert.deepEqual(brokenBy({ tables: { hold: 40_000, receipt: 500 * MIB } }), []);
});

Deno.test("memory, descriptors and tables of open work that grow are violations", () => {
  assert.deepEqual(brokenBy({ memory: 300 * MIB }), ["memory: 200.0 MiB, later 300.0"]);
  assert.deepEqual(brokenBy({ descriptors: 120 }), ["descriptors: 60, later 120"]);
  assert.deepEqual(brokenBy({ tables: { hold: 9 * MIB } }), ["the table hold has 9.0 MiB"]);
});

Deno.test("a short run says nothing about growth", () => {
  const findings = new Findings();
  auditResources([sampleOf(), sampleOf({ memory: 900 * MIB })], findings);
  assert.equal(findings.total, 0);
  assert.deepEqual(describeResources([sampleOf()]), []);
});
