import assert from "node:assert/strict";
import { StoredJsonError } from "../../lib/stored_json.ts";
import { parseDramaJob, parseTextJob } from "./stored_drama.ts";

const PRICE = {
  model: "chat",
  billing_type: "token",
  unit: "1M tokens",
  book: "default",
  effective_at: "2026-01-01T00:00:00.000Z",
  input_price: "1.00",
};

/** A job as the first version wrote it. */
const OLDER = {
  title: "Tides",
  script: "A story.",
  until: "script",
  shots_max: 3,
  pipeline: {
    script: { model: "chat", prompt: "Write.", maxOutputTokens: 100 },
    roles: { offered: false },
    storyboard: { offered: true, model: "image", prompt: "Draw." },
    video: { offered: true, model: "video", prompt: "Film.", duration: 5 },
  },
  prices: { chat: PRICE },
};

Deno.test("a drama job without later fields gets their defaults", () => {
  const job = parseDramaJob(OLDER);
  assert.deepEqual([job.episode, job.characters, job.given], [1, [], {}]);
  const { roles, storyboard, video, tries, shotsAtOnce } = job.pipeline;
  assert.deepEqual([tries, shotsAtOnce], [3, 4]);
  assert.deepEqual(roles, { offered: false });
  assert.ok(storyboard.offered && storyboard.size === null);
  assert.ok(video.offered && !video.speech.offered);
  assert.deepEqual(job.prices.chat, PRICE);
});

Deno.test("texts keep the fields that an operator's schema adds", () => {
  const script = { synopsis: "A tide.", scenes: [], genre: "noir" };
  assert.deepEqual(parseDramaJob({ ...OLDER, given: { script } }).given.script, script);
});

Deno.test("a drama job or text job that cannot be read is an error that names the field", () => {
  const unreadable = { ...OLDER, pipeline: { ...OLDER.pipeline, roles: { offered: "yes" } } };
  assert.throws(() => parseDramaJob(unreadable), (error) => {
    assert.ok(error instanceof StoredJsonError);
    assert.match(error.message, /^Cannot read stored drama job: pipeline\.roles/);
    return true;
  });
  assert.throws(() => parseDramaJob(null), StoredJsonError);
  assert.throws(() => parseTextJob({ stage: "video" }), StoredJsonError);
});
