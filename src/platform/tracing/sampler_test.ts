import assert from "node:assert/strict";
import { samplerOf } from "./sampler.ts";
import { randomHex } from "./trace_context.ts";

const caller = (isSampled: boolean) => ({ traceId: "", spanId: "", isSampled, state: "" });

Deno.test("samplers by parent follow the caller, and decide themselves without one", () => {
  const traceId = randomHex(16);
  const named = [["parentbased_always_on", true], ["parentbased_always_off", false]] as const;
  for (const [name, alone] of named) {
    const isKept = samplerOf(name, 1);
    assert.deepEqual(
      [isKept(traceId, null), isKept(traceId, caller(true)), isKept(traceId, caller(false))],
      [alone, true, false],
    );
  }
  assert.equal(samplerOf("always_on", 0)(traceId, caller(false)), true);
  assert.equal(samplerOf("always_off", 1)(traceId, caller(true)), false);
});

Deno.test("a ratio keeps about that part of the traces, and the same ones everywhere", () => {
  const isKept = samplerOf("traceidratio", 0.25);
  const ids = Array.from({ length: 4000 }, () => randomHex(16));
  const kept = ids.filter((id) => isKept(id, null));
  assert.ok(kept.length > 800 && kept.length < 1200, String(kept.length));
  const wider = samplerOf("parentbased_traceidratio", 0.5);
  assert.ok(kept.every((id) => wider(id, null)), "a larger ratio keeps them too");
  assert.deepEqual(
    [0, 1].map((ratio) => ids.filter((id) => samplerOf("traceidratio", ratio)(id, null)).length),
    [0, 4000],
  );
});
