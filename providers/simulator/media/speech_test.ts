import assert from "node:assert/strict";
import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { UpstreamFailure } from "../../../src/upstream/failure.ts";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { MediaClient } from "../../../test/helpers/media_client.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { STRICT } from "../test_client.ts";

const TEXT = "The tide comes in over the stones.";
const SECONDS = TEXT.length / 15;

async function said(
  parameters: Record<string, string | number>,
  { text = TEXT, directives = "" } = {},
): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string | null; durationMs: number }> {
  const client = new MediaClient(directives);
  const { id, status } = await client.submit({ type: "speech", prompt: text, parameters });
  assert.equal(id, null);
  assert.ok(status?.state === "succeeded" && status.outputs.length === 1);
  const { bytes, mimeType } = status.outputs[0] as {
    bytes: Uint8Array<ArrayBuffer>;
    mimeType: string;
  };
  return { bytes, mimeType, durationMs: status.usage!.durationMs! };
}

async function measured(bytes: Uint8Array<ArrayBuffer>) {
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const track = (await input.getPrimaryAudioTrack())!;
  return {
    format: (await input.getFormat()).name,
    seconds: await input.computeDuration(),
    rate: await track.getSampleRate(),
    channels: await track.getNumberOfChannels(),
  };
}

const near = (seconds: number, expected: number) =>
  assert.ok(Math.abs(seconds - expected) < 0.08, `${seconds}, not ${expected}`);

Deno.test("speech comes as WAV, MP3 or PCM, as long as its text", STRICT, async () => {
  const wav = await said({ voice: "alma", response_format: "wav" });
  assert.equal(wav.mimeType, "audio/wav");
  const seen = await measured(wav.bytes);
  assert.deepEqual([seen.format, seen.rate, seen.channels], ["WAVE", 24_000, 1]);
  near(seen.seconds, SECONDS);
  near(wav.durationMs / 1000, SECONDS);

  const pcm = await said({ voice: "alma", response_format: "pcm" });
  assert.equal(pcm.mimeType, "audio/pcm");
  assert.deepEqual(pcm.bytes, wav.bytes.slice(44));

  const mp3 = await said({ voice: "alma" });
  assert.equal(mp3.mimeType, "audio/mpeg");
  const heard = await measured(mp3.bytes);
  assert.deepEqual([heard.format, heard.rate, heard.channels], ["MP3", 24_000, 1]);
  near(heard.seconds, SECONDS);
});

Deno.test("speed changes the length, the voice changes the audio", STRICT, async () => {
  const format = { response_format: "pcm" };
  const usual = await said({ ...format, voice: "alma" });
  near((await said({ ...format, voice: "alma", speed: 2 })).durationMs / 1000, SECONDS / 2);
  near((await said({ ...format, voice: "alma", speed: 0.25 })).durationMs / 1000, SECONDS * 4);
  assert.deepEqual((await said({ ...format, voice: "alma" })).bytes, usual.bytes);
  assert.notDeepEqual((await said({ ...format, voice: "bruno" })).bytes, usual.bytes);
  await assert.rejects(said({ ...format, speed: 5 }), UpstreamFailure);
  await assert.rejects(said({ response_format: "opus" }), UpstreamFailure);
});

Deno.test(
  "speech is audible, never clipped, and silent for spaces",
  STRICT,
  async () => {
    const { bytes } = await said({ response_format: "pcm" }, { text: `${"alma ".repeat(3)}     ` });
    const samples = new Int16Array(bytes.buffer);
    const peak = (from: number, to: number) =>
      samples.subarray(from, to).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    assert.ok(peak(0, samples.length) > 6000 && peak(0, samples.length) < 32_000);
    assert.ok(peak(samples.length - 2400, samples.length) < 100);
  },
);

Deno.test("minutes of text become minutes of MP3", STRICT, async () => {
  const text = "The tide comes in. ".repeat(120);
  const mp3 = await said({ response_format: "mp3" }, { text });
  near((await measured(mp3.bytes)).seconds, text.length / 15);
});

Deno.test("faults apply to speech", STRICT, async () => {
  for (const directives of ["status=429", "refuse", "cut", "html", "error"]) {
    await assert.rejects(said({ response_format: "wav" }, { directives }), directives);
  }
  await assert.rejects(said({}, { text: "Hello [[simulate: status=500]]" }), UpstreamFailure);
});

browserTest("a browser plays MP3 and WAV speech", async ({ openPage }) => {
  const page = await openPage();
  for (const format of ["mp3", "wav"]) {
    const { bytes, mimeType } = await said({ response_format: format });
    const played = await playVideo(page, bytes, { mimeType: mimeType! });
    near(played.seconds, SECONDS);
    assert.ok(played.audioBytes > 0);
  }
});
