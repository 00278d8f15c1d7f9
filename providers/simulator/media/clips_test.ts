import assert from "node:assert/strict";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { browserTest } from "../../../test/helpers/chromium.ts";
import { inputOf, MediaClient } from "../../../test/helpers/media_client.ts";
import { playVideo } from "../../../test/helpers/play_video.ts";
import { STRICT } from "../test_client.ts";
import { Canvas } from "./canvas.ts";
import { writePng } from "./png.ts";
import { speak } from "./speech.ts";
import { writeWav } from "./wav.ts";

const clip = (parameters: Record<string, string | number>) =>
  ({ type: "video", parameters }) as const;

async function plainPng(colour: [number, number, number]): Promise<Uint8Array<ArrayBuffer>> {
  const canvas = new Canvas(48, 48);
  canvas.fillGradient(colour, colour);
  return await writePng(canvas);
}

const wavOf = (seconds: number) =>
  writeWav(speak("Hello", { voice: "alma", speed: 1, count: seconds * 24_000 }), 24_000);

browserTest(
  "a browser plays clips of every length and shape to their end",
  async ({ openPage }) => {
    const page = await openPage();
    for (
      const [duration, ratio, size] of [
        [5, "16:9", [640, 360]],
        [2, "9:16", [360, 640]],
        [1, "1:1", [480, 480]],
        [1.25, "4:3", [554, 416]],
      ] as const
    ) {
      const [bytes] = await new MediaClient().make(clip({ duration, aspect_ratio: ratio }));
      const played = await playVideo(page, bytes!);
      assert.equal(played.seconds, duration, ratio);
      assert.deepEqual([played.width, played.height], size);
      assert.ok(Math.abs(played.endedAt - duration) < 0.1, `${played.endedAt}`);
      assert.ok(played.pictures > duration * 6, `${played.pictures}`);
    }
  },
);

browserTest(
  "the bar moves, and the picture behind is the one that was given",
  async ({ openPage }) => {
    const page = await openPage();
    const inputs = [inputOf("image", await plainPng([30, 200, 40]), "image/png")];
    const [bytes] = await new MediaClient().make({ ...clip({ duration: 6 }), inputs });
    const bar = 0.905;
    const { colours } = await playVideo(page, bytes!, {
      looks: [[0.1, 0.8, bar], [5.8, 0.8, bar], [4.5, 0.01, 0.02]],
    });
    const [before, after, corner] = colours;
    assert.ok(before![0]! < 60 && after![0]! > 120, `${before} ${after}`);
    assert.ok(corner![1]! > 100 && corner![0]! < 50 && corner![2]! < 50, `${corner}`);
  },
);

browserTest("an avatar is as long as its sound, and its mouth moves", async ({ openPage }) => {
  const page = await openPage();
  const [bytes] = await new MediaClient().make({
    type: "avatar",
    prompt: null,
    parameters: { aspect_ratio: "9:16" },
    inputs: [
      inputOf("avatar", await plainPng([200, 170, 150]), "image/png"),
      inputOf("audio", wavOf(2.4), "audio/wav"),
    ],
  });
  const mouth = [0.5, 0.235] as const;
  const times = Array.from({ length: 14 }, (_, at) => 0.05 + at / 12);
  const played = await playVideo(page, bytes!, { looks: times.map((time) => [time, ...mouth]) });
  assert.deepEqual([played.seconds, played.width, played.height], [2.4, 360, 640]);
  assert.ok(played.soundBytes > 0, "it is heard");
  assert.ok(new Set(played.colours.map(([red]) => red! > 120)).size === 2, "open and shut");
});

Deno.test("an avatar goes on after a restart, as long as before", STRICT, async () => {
  const client = new MediaClient("seconds=10");
  const inputs = [inputOf("audio", wavOf(1.7), "audio/wav")];
  const { id } = await client.submit({ type: "avatar", prompt: null, inputs });
  client.nowMs += 10_000;
  const fetched = async () => {
    const seen = await client.look(id!);
    assert.ok(seen.state === "succeeded");
    assert.deepEqual(seen.usage, { outputs: 1, durationMs: 1700 });
    const source = new BufferSource(await client.fetch(seen.outputs[0]!));
    using input = new Input({ source, formats: ALL_FORMATS });
    const sound = await input.getPrimaryAudioTrack();
    return { seconds: await input.computeDuration(), hasSound: sound !== null };
  };
  assert.deepEqual(await fetched(), { seconds: 1.7, hasSound: true });
  client.forget();
  assert.deepEqual(await fetched(), { seconds: 1.7, hasSound: false });
});

Deno.test(
  "a clip's index is in front, its keys are where they say, its packets add up",
  STRICT,
  async () => {
    const [bytes] = await new MediaClient().make(clip({ duration: 10 }));
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
    assert.deepEqual([count, keys], [120, 3]);
    assert.equal((await track.getDecoderConfig())!.codec, "avc1.42c028");
  },
);

Deno.test("the same clip twice is the same bytes; a long one stays small", STRICT, async () => {
  const [one] = await new MediaClient().make(clip({ duration: 30 }));
  const [two] = await new MediaClient().make(clip({ duration: 30 }));
  assert.deepEqual(one, two);
  assert.ok(one!.length < 6_000_000, `${one!.length}`);
});
