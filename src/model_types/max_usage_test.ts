import assert from "node:assert/strict";
import type { ModelLimits, RequestFields } from "./definition.ts";
import { maxDramaUsage } from "./drama.ts";
import { mediaDefinitionOf, type MediaJobType } from "./model_types.ts";
import type { Usage } from "./usage.ts";

interface Files {
  /** Of the audio that an avatar speaks; null: unknown. */
  audioMs?: number | null;
}

async function maxUsage(
  type: MediaJobType,
  limits: ModelLimits,
  body: RequestFields,
  { audioMs = null }: Files = {},
): Promise<Usage> {
  const definition = mediaDefinitionOf(type);
  const model = { id: "m", capabilities: new Set(definition.capabilities), limits };
  const checked = await definition.check({
    model,
    body: { prompt: "a tide", ...body },
    findFile: (id) =>
      Promise.resolve({ id, kind: id === "voice" ? "audio" : "image", durationMs: audioMs }),
    checkUrl() {},
  });
  return checked.maxUsage;
}

/** The code and the parameter of the error that a body gives. */
async function refused(
  type: MediaJobType,
  limits: ModelLimits,
  body: RequestFields,
): Promise<[code: string, param: string | null]> {
  const error = await maxUsage(type, limits, body).catch((error) => error);
  return [error.code, error.param];
}

Deno.test("an image request makes n images: one unless it says more, ten at most without a limit", async () => {
  assert.deepEqual(await maxUsage("image", {}, {}), { images: 1, calls: 1 });
  assert.deepEqual(await maxUsage("image", {}, { n: 10 }), { images: 10, calls: 10 });
  assert.deepEqual(await maxUsage("image", { max_count: 12 }, { n: 12 }), {
    images: 12,
    calls: 12,
  });
  for (const n of [0, -1, 11, 1.5, "1", NaN, 2 ** 60]) {
    assert.deepEqual(await refused("image", {}, { n }), ["invalid_value", "n"], String(n));
  }
  assert.deepEqual(await refused("image", { max_count: 4 }, { n: 5 }), ["invalid_value", "n"]);
  await assert.rejects(
    maxUsage("image", {}, { n: 11 }),
    /n must be a whole number from 1 to 10\./,
  );
});

Deno.test("a video lasts as long as it asks for, if the model offers that", async () => {
  const offers = (...durations: number[]) => ({ durations });
  const seconds = async (limits: ModelLimits, duration?: number) =>
    (await maxUsage("video", limits, duration === undefined ? {} : { duration })).seconds;
  assert.deepEqual(await maxUsage("video", offers(5, 10), { duration: 10 }), {
    seconds: 10,
    videos: 1,
    calls: 1,
    options: { duration: 10, audio: false },
  });
  assert.equal(await seconds(offers(8)), 8);
  assert.equal(await seconds({}, 1), 1);
  assert.deepEqual(await refused("video", offers(5, 10), { duration: 7 }), [
    "duration_not_allowed",
    "duration",
  ]);
  assert.equal(await seconds(offers(5, 10)), 5, "the first of a list is the default");
  assert.deepEqual(await refused("video", {}, {}), ["missing_field", "duration"]);
  for (const duration of [0, 10 ** 9, "5"]) {
    assert.deepEqual(await refused("video", {}, { duration }), ["invalid_value", "duration"]);
  }
});

Deno.test("an avatar may last as long as its audio, its longest duration, or ten minutes", async () => {
  const files = { avatar_file_id: "face", audio_file_id: "voice" };
  const most = (limits: ModelLimits, audioMs: number | null = null) =>
    maxUsage("avatar", limits, files, { audioMs });
  assert.deepEqual(await most({ durations: [30, 90, 60] }), { seconds: 90, videos: 1, calls: 1 });
  assert.deepEqual(await most({}), { seconds: 600, videos: 1, calls: 1 });
  assert.equal((await most({}, 4_001)).seconds, 5);
  await assert.rejects(most({ durations: [30] }, 30_001), /The audio may last 30 seconds/);
});

Deno.test("a drama makes the shots of its stages, and a video of each only if it goes that far", () => {
  const size = { shots: 4, shotSeconds: 6 };
  assert.deepEqual(maxDramaUsage("video", size), { shots: 4, episodes: 1, calls: 1, seconds: 24 });
  assert.deepEqual(maxDramaUsage("storyboard", size), {
    shots: 4,
    episodes: 0,
    calls: 1,
    seconds: 0,
  });
  assert.deepEqual(maxDramaUsage("roles", size), { shots: 0, episodes: 0, calls: 1, seconds: 0 });
});

Deno.test("speech is as long as its input in characters, spoken slowly", async () => {
  const most = (input: string) => maxUsage("speech", {}, { input, voice: "alma" });
  assert.deepEqual(await most("abcdef"), {
    characters: 6,
    seconds: 5,
    calls: 1,
    options: { response_format: "mp3", voice: "alma" },
  });
  assert.equal((await most("🌊🌊")).characters, 2);
});
