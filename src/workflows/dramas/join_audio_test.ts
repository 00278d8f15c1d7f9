import assert from "node:assert/strict";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { look, mp3, timesOf, videoOf, wav } from "../../../test/helpers/shots.ts";
import { joinVideos } from "./join_videos.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

browserTest("lines are heard under their shots, whether MP3 or WAV", async ({ openPage }) => {
  const page = await openPage();
  for (const line of [await mp3(0.8), wav(0.8)]) {
    const joined = await joinVideos([
      { video: await videoOf("red", 1) },
      { video: await videoOf("green", 1), line },
      { video: await videoOf("blue", 1), line: null },
    ]);
    assert.equal(joined.hasAudio, true);
    const played = await playVideo(page, joined.bytes);
    assert.ok(Math.abs(played.seconds - 3) < 0.03, `${played.seconds}`);
    assert.ok(played.audioBytes > 0);
    const loud = await page.evaluate(loudness, joined.bytes.toBase64());
    assert.ok(loud[0]! < 0.001 && loud[1]! > 0.02 && loud[2]! < 0.01, `${loud}`);
  }
});

/** Runs in the page: how loud each second is. */
async function loudness(base64: string): Promise<number[]> {
  // deno-lint-ignore no-explicit-any
  const { OfflineAudioContext } = globalThis as any;
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const heard = await new OfflineAudioContext(1, 1, 24_000).decodeAudioData(bytes.buffer);
  const samples: Float32Array = heard.getChannelData(0);
  return [0.1, 1.1, 2.1].map((second) => {
    const part = samples.subarray(second * 24_000, (second + 0.6) * 24_000);
    return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length);
  });
}

Deno.test("a shot lasts until its line is said", STRICT, async () => {
  const joined = await joinVideos([
    { video: await videoOf("red", 1), line: await mp3(2.5) },
    { video: await videoOf("blue", 1), line: await mp3(1.6) },
  ]);
  assert.ok(Math.abs(joined.durationMs - 4100) < 100, `${joined.durationMs}`);
  await look(joined.bytes, async (video, audio, input) => {
    const videoFrames = await timesOf(video);
    assert.equal(videoFrames.length, 24);
    assert.ok(
      Math.abs(videoFrames[12]!.at - 2.5) < 0.06,
      "the second waits for the first line's end",
    );
    assert.ok(Math.abs(videoFrames.at(-1)!.until - joined.durationMs / 1000) < 0.01);
    const audioFrames = await timesOf(audio!);
    audioFrames.slice(1).forEach(({ at }, index) =>
      assert.ok(Math.abs(at - audioFrames[index]!.until) < 1e-3)
    );
    assert.ok(Math.abs(await input.computeDuration() - joined.durationMs / 1000) < 0.05);
  });
});

Deno.test("audio stays in time with the video through many shots", STRICT, async () => {
  const video = await videoOf("red", 1.1);
  const line = await mp3(0.5);
  const joined = await joinVideos(Array.from({ length: 12 }, () => ({ video, line })));
  await look(joined.bytes, async (videoTrack, audio) => {
    const [shown, heard] = [await videoTrack.computeDuration(), await audio!.computeDuration()];
    assert.ok(Math.abs(shown - 13.2) < 0.01 && Math.abs(heard - 13.2) < 0.03, `${shown} ${heard}`);
  });
});

Deno.test("an episode's own audio is kept when it is joined again", STRICT, async () => {
  const part = await joinVideos([{ video: await videoOf("red", 1), line: await mp3(1) }]);
  const video = new Blob([part.bytes]);
  const twice = await joinVideos([{ video }, { video }]);
  assert.equal(twice.hasAudio, true);
  await look(twice.bytes, async (_, audio) => {
    assert.ok(Math.abs(await audio!.computeDuration() - 2) < 0.06);
  });
  const mixed = await joinVideos([{ video }, { video: await videoOf("red", 1) }]);
  assert.equal(mixed.hasAudio, false);
});
