import assert from "node:assert/strict";
import { buildCapabilities } from "../../app/build_capabilities.ts";
import { compileConfig } from "./compile.ts";
import { freeze } from "./freeze.ts";

const DECLARED = `
plans: { pro: { quotas: { image: 5 } } }
providers:
  sim: { adapter: simulator, headers: { X-Team: blue } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 1000 }
    upstreams: [{ provider: sim, cost: { input_price: "0.1", unit: 1M tokens } }]
    visible_to: { plans: [pro] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;

/** Everything that hangs on a value, with the way to it. */
function* parts(value: unknown, path = "plan", seen = new Set()): Generator<[string, object]> {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  yield [path, value];
  const entries = value instanceof Map || value instanceof Set
    ? [...value.entries()]
    : Object.entries(value);
  for (const [key, part] of entries) yield* parts(part, `${path}.${String(key)}`, seen);
}

Deno.test("no part of a compiled configuration can be changed", () => {
  const { config } = compileConfig({
    file: "gateway.yaml",
    source: DECLARED,
    environment: {},
    capabilities: buildCapabilities(),
    now: Date.parse("2026-06-01T00:00:00Z"),
  });
  let count = 0;
  for (const [path, part] of parts(config)) {
    count++;
    assert.ok(Object.isFrozen(part), `${path} is not frozen`);
    const before = part instanceof Map || part instanceof Set
      ? part.size
      : Object.keys(part).length;
    assert.throws(() => change(part), TypeError, path);
    const after = part instanceof Map || part instanceof Set ? part.size : Object.keys(part).length;
    assert.equal(after, before, path);
  }
  assert.ok(count > 40, `only ${count} parts seen`);
});

function change(part: object): void {
  if (part instanceof Map) part.set("new", 1);
  else if (part instanceof Set) part.add("new");
  else if (Array.isArray(part)) part.push("new");
  else Object.assign(part, { added: 1 });
}

Deno.test("frozen maps and sets cannot be changed and can still be read", () => {
  const map = freeze(new Map([["a", { list: [1] }]]));
  const set = freeze(new Set(["a"]));
  for (const verb of [() => map.delete("a"), () => map.clear(), () => map.set("a", { list: [] })]) {
    assert.throws(verb, /edit the file and reload it/);
  }
  for (const verb of [() => set.delete("a"), () => set.clear(), () => set.add("b")]) {
    assert.throws(verb, /edit the file and reload it/);
  }
  assert.throws(() => map.get("a")!.list.push(2), TypeError);
  assert.deepEqual([map.get("a"), set.has("a"), map.size, set.size], [{ list: [1] }, true, 1, 1]);
});
