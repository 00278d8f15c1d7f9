import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
} from "mediabunny";
import { Canvas, type Colour } from "../../providers/simulator/media/canvas.ts";
import { murmurMp3 } from "../../providers/simulator/media/mp3.ts";
import { SAMPLE_RATE, speak } from "../../providers/simulator/media/speech.ts";
import { makeClip } from "../../providers/simulator/media/video.ts";
import { writeWav } from "../../providers/simulator/media/wav.ts";

export const RED: Colour = [230, 30, 30];
export const GREEN: Colour = [30, 230, 30];
export const BLUE: Colour = [30, 30, 230];

/** A clip of one colour, as the simulator makes them. */
export async function clip(colour: Colour, seconds: number, size = [640, 360]): Promise<Blob> {
  const backdrop = new Canvas(4, 4);
  backdrop.fillGradient(colour, colour);
  return new Blob([
    await makeClip({
      width: size[0]!,
      height: size[1]!,
      durationMs: seconds * 1000,
      prompt: "",
      seed: "",
      backdrop,
      speaks: false,
      sound: null,
    }),
  ]);
}

const samplesOf = (seconds: number, voice = "alma") =>
  speak("Over the stones. ".repeat(20), { voice, speed: 1, count: seconds * SAMPLE_RATE });

export async function mp3(seconds: number): Promise<Blob> {
  const samples = seconds * SAMPLE_RATE;
  return new Blob([
    await murmurMp3((count) => samplesOf(count / SAMPLE_RATE), samples, SAMPLE_RATE),
  ]);
}

export const wav = (seconds: number, rate = SAMPLE_RATE) =>
  new Blob([writeWav(samplesOf(seconds * rate / SAMPLE_RATE), rate)]);

export async function look<T>(
  bytes: Uint8Array<ArrayBuffer>,
  see: (video: InputVideoTrack, sound: InputAudioTrack | null, input: Input) => Promise<T>,
): Promise<T> {
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  return await see(
    (await input.getPrimaryVideoTrack())!,
    await input.getPrimaryAudioTrack(),
    input,
  );
}

export const timesOf = async (track: InputVideoTrack | InputAudioTrack) => {
  const times = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    times.push({ at: packet.timestamp, until: packet.timestamp + packet.duration });
  }
  return times;
};
