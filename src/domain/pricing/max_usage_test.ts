import assert from "node:assert/strict";
import type { Model } from "../../platform/config/config.ts";
import { maxUsage } from "./max_usage.ts";

const model = (type: Model["type"], limits: Model["limits"] = {}, more: Partial<Model> = {}) =>
  ({ id: "m", type, limits, pipeline: null, ...more }) as Model;

/** The code and the parameter of the error that a body gives. */
function refused(of: Model, body: Record<string, unknown>): [code: string, param: string | null] {
  try {
    maxUsage(of, body);
  } catch (error) {
    const { code, param } = error as { code: string; param: string | null };
    return [code, param];
  }
  throw new Error(`${JSON.stringify(body)} was accepted`);
}

Deno.test("an image request makes n images: one unless it says more, ten at most without a limit", () => {
  const images = model("image");
  assert.deepEqual(maxUsage(images, {}), { images: 1, calls: 1 });
  assert.deepEqual(maxUsage(images, { n: null }), { images: 1, calls: 1 });
  assert.deepEqual(maxUsage(images, { n: 10 }), { images: 10, calls: 10 });
  assert.deepEqual(maxUsage(model("image", { max_count: 12 }), { n: 12 }), {
    images: 12,
    calls: 12,
  });
  for (const n of [0, -1, 11, 1.5, "1", NaN, 2 ** 60]) {
    assert.deepEqual(refused(images, { n }), ["invalid_value", "n"], String(n));
  }
  assert.deepEqual(refused(model("image", { max_count: 4 }), { n: 5 }), ["invalid_value", "n"]);
  assert.throws(() => maxUsage(images, { n: 11 }), /n must be a whole number from 1 to 10\./);
});

Deno.test("a video lasts as long as it asks for, if the model offers that", () => {
  const offers = (...durations: number[]) => model("video", { durations });
  const seconds = (of: Model, duration?: unknown) => maxUsage(of, { duration }).seconds;
  assert.deepEqual(maxUsage(offers(5, 10), { duration: 10 }), { seconds: 10, videos: 1, calls: 1 });
  assert.equal(seconds(offers(8)), 8);
  assert.equal(seconds(model("video"), 1), 1);
  assert.equal(seconds(model("video"), 36_000), 36_000);
  assert.deepEqual(refused(offers(5, 10), { duration: 7 }), ["duration_not_allowed", "duration"]);
  assert.deepEqual(refused(offers(5, 10), {}), ["missing_field", "duration"]);
  assert.throws(() => maxUsage(offers(5, 10), {}), /missing: 5, 10\./);
  assert.deepEqual(refused(model("video"), {}), ["missing_field", "duration"]);
  assert.throws(() => maxUsage(model("video"), {}), /missing: seconds\./);
  for (const duration of [0, 36_001, "5"]) {
    assert.deepEqual(refused(model("video"), { duration }), ["invalid_value", "duration"]);
  }
});

Deno.test("an avatar may last as long as its longest duration, or ten minutes", () => {
  const most = (limits?: Model["limits"]) => maxUsage(model("avatar", limits), {});
  assert.deepEqual(most({ durations: [30, 90, 60] }), { seconds: 90, videos: 1, calls: 1 });
  assert.deepEqual(most(), { seconds: 600, videos: 1, calls: 1 });
});

Deno.test("a drama makes all its shots, and a video of each only if its pipeline does", () => {
  const filming = { video: { offered: true, duration: 6 } } as Model["pipeline"];
  const script = { video: { offered: false } } as Model["pipeline"];
  const most = (pipeline: Model["pipeline"], limits: Model["limits"] = { max_shots: 4 }) =>
    maxUsage(model("drama", limits, { pipeline }), {});
  assert.deepEqual(most(filming), { shots: 4, episodes: 1, calls: 1, seconds: 24 });
  assert.deepEqual(most(filming, {}), { shots: 1, episodes: 1, calls: 1, seconds: 6 });
  assert.equal(most(script).seconds, 0);
  assert.equal(most(null).seconds, 0);
});

Deno.test("speech is as long as its input in characters, spoken slowly", () => {
  const speech = model("speech");
  assert.deepEqual(maxUsage(speech, { input: "abcdef" }), { characters: 6, seconds: 5, calls: 1 });
  assert.equal(maxUsage(speech, { input: "🌊🌊" }).characters, 2);
  for (const input of [undefined, null, 5, ["a"]]) {
    assert.deepEqual(refused(speech, { input }), ["missing_field", "input"]);
  }
});

Deno.test("a chat has no bound in its body", () => {
  assert.throws(() => maxUsage(model("chat"), {}), /Cannot bound a chat/);
});
