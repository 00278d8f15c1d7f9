import assert from "node:assert/strict";
import fc from "fast-check";
import api from "../../schemas/api.schema.json" with { type: "json" };
import gateway from "../../schemas/gateway.schema.json" with { type: "json" };
import provider from "../../schemas/provider.schema.json" with { type: "json" };
import type { LimitedModel, RequestCheck } from "./definition.ts";
import {
  CAPABILITIES,
  definitionOf,
  isMediaType,
  MODEL_TYPES,
  type ModelType,
  SHOWN_TASK_TYPES,
  TASK_TYPES,
} from "./model_types.ts";
import { unitOf } from "./units.ts";
import { countOf, type Quantity, secondsOf, type Usage } from "./usage.ts";

Deno.test("the published schemas name the model types of the registry", () => {
  assert.deepEqual(gateway.$defs.model.properties.type.enum, [...MODEL_TYPES]);
  assert.deepEqual(api.$defs.Model.properties.type.enum, [...MODEL_TYPES]);
  assert.deepEqual(gateway.$defs.model.properties.capabilities.items.enum, CAPABILITIES);
  assert.deepEqual(gateway.$defs.route.properties.type.enum, TASK_TYPES);
  assert.deepEqual(api.$defs.Task.properties.type.enum, SHOWN_TASK_TYPES);
  assert.deepEqual(
    Object.keys(provider.properties.media.properties),
    TASK_TYPES.filter(isMediaType),
  );
});

Deno.test("every type is sold in units that exist, at an endpoint and with capabilities of its own", () => {
  const definitions = MODEL_TYPES.map(definitionOf);
  for (const { units } of definitions) {
    assert.notEqual(Object.keys(units).length, 0);
    for (const unit of Object.values(units).flat()) assert.notEqual(unitOf(unit), null, unit);
  }
  for (
    const names of [
      CAPABILITIES,
      definitions.map(({ endpoint }) => endpoint.path),
      definitions.map(({ request }) => request.name),
    ]
  ) assert.equal(new Set(names).size, names.length);
});

Deno.test("limits of every type are fields of the configuration's schema", () => {
  const known = Object.keys(gateway.$defs.model_limits.properties);
  for (const type of MODEL_TYPES) {
    for (const limit of definitionOf(type).limits) assert.ok(known.includes(limit), limit);
  }
});

const FILES: Record<string, "image" | "audio"> = { file_face: "image", file_voice: "audio" };

/** A request that a model of the type accepts, with random values of what costs money. */
const requests: fc.Arbitrary<{ type: ModelType; request: RequestCheck }> = fc.record({
  type: fc.constantFrom(...MODEL_TYPES.filter(isMediaType)),
  n: fc.integer({ min: 1, max: 10 }),
  duration: fc.integer({ min: 1, max: 3600 }),
  audioMs: fc.option(fc.integer({ min: 0, max: 600_000 })),
  text: fc.string({ minLength: 1, maxLength: 200 }),
}).map(({ type, n, duration, audioMs, text }) => ({
  type,
  request: {
    model: modelOf(type),
    body: {
      prompt: text,
      input: text,
      voice: "alloy",
      n,
      duration,
      avatar_file_id: "file_face",
      audio_file_id: "file_voice",
    },
    findFile: (id) => Promise.resolve({ id, kind: FILES[id]!, durationMs: audioMs }),
    checkUrl: () => {},
  },
}));

function modelOf(type: ModelType): LimitedModel {
  return { id: "m", capabilities: new Set(definitionOf(type).capabilities), limits: {} };
}

/** What a provider may report, sensible or not. */
const reports = fc.option(fc.record({
  outputs: fc.integer({ min: 0, max: 1000 }),
  durationMs: fc.oneof(fc.double(), fc.integer({ min: -10, max: 10_000_000 })),
}, { requiredKeys: [] }));

Deno.test("a job is never metered above the maximum that was held for it", async () => {
  await fc.assert(fc.asyncProperty(
    requests,
    fc.option(fc.array(
      fc.record({ duration: fc.integer({ min: 0, max: 100_000 }) }, { requiredKeys: [] }),
      { maxLength: 10 },
    )),
    reports,
    async ({ type, request }, made, reported) => {
      const definition = definitionOf(type);
      assert.equal(definition.work, "media");
      if (definition.work !== "media") return;
      const { job, maxUsage } = await definition.check(request);
      // No more results are copied than were asked for.
      const outputs = made?.slice(0, Number(job.parameters.n ?? 1)) ?? null;
      const { usage, units } = definition.meter(job, { outputs, reported });
      assert.ok(
        isWithin(usage, maxUsage),
        `${JSON.stringify(usage)} > ${JSON.stringify(maxUsage)}`,
      );
      assert.deepEqual(
        usage.options,
        maxUsage.options,
        "the price that was held is the one charged",
      );
      assert.ok(Number.isSafeInteger(units) && units >= 0);
    },
  ));
});

function isWithin(usage: Usage, max: Usage): boolean {
  const { seconds: _, estimated: __, items: ___, options: ____, ...counts } = usage;
  return secondsOf(usage) <= secondsOf(max) &&
    (Object.keys(counts) as Quantity[]).every((name) => countOf(usage, name) <= countOf(max, name));
}
