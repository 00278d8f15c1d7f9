import assert from "node:assert/strict";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { inputOf, MediaClient } from "../../../test/helpers/media_client.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { STRICT } from "../test_client.ts";
import { Canvas } from "./canvas.ts";
import { writePng } from "./png.ts";
import { synthesizeSpeech } from "./speech.ts";
import { writeWav } from "./wav.ts";

const video = (parameters: Record<string, string | number>, prompt = "A tide") =>
  ({ type: "video", parameters, prompt }) as const;

const wavOf = (seconds: number) =>
  writeWav(
    synthesizeSpeech("Hello", { voice: "alma", speed: 1, count: seconds * 24_000 }),
    24_000,
  );

browserTest(
  "a browser plays videos of every length and shape to their end",
  async ({ openPage }) => {
    const page = await openPage();
    for (
      const [duration, ratio, size] of [
        [5, "16:9", [640, 360]],
        [2, "9:16", [360, 640]],
        [1, "1:1", [480, 480]],
        [1.25, "4:3", [554, 416]],
        [0.5, "3:4", [416, 554]],
        // No such video is prepared: the nearest shape is taken.
        [0.5, "21:9", [640, 360]],
      ] as const
    ) {
      const [bytes] = await new MediaClient().make(video({ duration, aspect_ratio: ratio }));
      const played = await playVideo(page, bytes!);
      assert.equal(played.seconds, duration, ratio);
      assert.deepEqual([played.width, played.height], size);
      assert.ok(Math.abs(played.endedAt - duration) < 0.1, `${played.endedAt}`);
      assert.ok(played.frames >= duration * 6, `${played.frames}`);
    }
  },
);

browserTest("a video moves, also where its loop starts again", async ({ openPage }) => {
  const page = await openPage();
  const [bytes] = await new MediaClient().make(video({ duration: 5 }));
  // The ball crosses the middle twice in a loop of two seconds.
  const looks = [0.05, 0.55, 2.05, 2.55, 4.05, 4.55].map((second) => [second, 0.5, 0.5] as const);
  const { colours } = await playVideo(page, bytes!, { looks });
  const isWhite = colours.map((colour) => Math.min(...colour) > 200);
  assert.deepEqual(isWhite, [false, true, false, true, false, true], JSON.stringify(colours));
});

browserTest("an avatar is as long as its audio, and its mouth moves", async ({ openPage }) => {
  const page = await openPage();
  const face = await writePng(new Canvas(48, 48));
  const [bytes] = await new MediaClient().make({
    type: "avatar",
    prompt: null,
    parameters: { aspect_ratio: "9:16" },
    inputs: [
      inputOf("avatar", face, "image/png"),
      inputOf("audio", wavOf(2.4), "audio/wav"),
    ],
  });
  const mouth = [0.5, 0.545] as const;
  const times = Array.from({ length: 14 }, (_, at) => 0.05 + at / 12);
  const played = await playVideo(page, bytes!, { looks: times.map((time) => [time, ...mouth]) });
  assert.deepEqual([played.seconds, played.width, played.height], [2.4, 360, 640]);
  assert.ok(played.audioBytes > 0, "it has audio");
  const states = new Set(played.colours.map(([, green]) => green! > 120));
  assert.equal(states.size, 2, `open and shut: ${JSON.stringify(played.colours)}`);
});

Deno.test("an avatar goes on after a restart, as long as before", STRICT, async () => {
  const client = new MediaClient("seconds=10");
  const inputs = [inputOf("audio", wavOf(1.7), "audio/wav")];
  const { id } = await client.submit({ type: "avatar", prompt: null, inputs });
  client.nowMs += 10_000;
  const fetched = async () => {
    const seen = await client.poll(id!);
    assert.ok(seen.state === "succeeded");
    assert.deepEqual(seen.usage, { outputs: 1, durationMs: 1700 });
    const source = new BufferSource(await client.fetch(seen.outputs[0]!));
    using input = new Input({ source, formats: ALL_FORMATS });
    const audio = await input.getPrimaryAudioTrack();
    return { seconds: await input.computeDuration(), hasAudio: audio !== null };
  };
  assert.deepEqual(await fetched(), { seconds: 1.7, hasAudio: true });
  client.restart();
  assert.deepEqual(await fetched(), { seconds: 1.7, hasAudio: false });
});

Deno.test("audio that cannot be read is left out of an avatar", STRICT, async () => {
  const inputs = [inputOf("audio", new TextEncoder().encode("no audio"), "audio/wav")];
  const [bytes] = await new MediaClient().make({ type: "avatar", prompt: null, inputs });
  using input = new Input({ source: new BufferSource(bytes!), formats: ALL_FORMATS });
  assert.equal(await input.getPrimaryAudioTrack(), null);
  assert.equal(await input.computeDuration(), 3);
});

Deno.test(
  "a video has its index in front, key frames where its index says, and all packets",
  STRICT,
  async () => {
    const [bytes] = await new MediaClient().make(video({ duration: 10 }));
    const text = new TextDecoder("latin1").decode(bytes!.subarray(0, 20_000));
    assert.ok(text.indexOf("moov") < text.indexOf("mdat"));
    using input = new Input({ source: new BufferSource(bytes!), formats: ALL_FORMATS });
    const track = (await input.getPrimaryVideoTrack())!;
    assert.equal(await input.computeDuration(), 10);
    const sink = new EncodedPacketSink(track);
    let [count, keys] = [0, 0];
    for await (const packet of sink.packets(undefined, undefined, { verifyKeyPackets: true })) {
      count++;
      if (packet.type === "key") keys++;
    }
    assert.deepEqual([count, keys], [120, 5]);
    assert.match((await track.getDecoderConfig())!.codec, /^avc1\.42/);
  },
);

Deno.test("the same request makes the same bytes, at any time", STRICT, async () => {
  const [one] = await new MediaClient().make(video({ duration: 30 }));
  // Headers of MP4 have dates in seconds.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const [two] = await new MediaClient().make(video({ duration: 30 }));
  assert.deepEqual(one, two);
  assert.ok(one!.length < 1_000_000, `${one!.length}`);
});

Deno.test("prompts have videos of three colours", STRICT, async () => {
  const made = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const [bytes] = await new MediaClient().make(video({ duration: 1 }, `Shot ${n}`));
    made.add(bytes!.toBase64());
  }
  assert.equal(made.size, 3);
});
