import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
} from "mediabunny";
import { writeMp3 } from "../../providers/simulator/media/mp3.ts";
import {
  SampleVideos,
  type VideoColour,
  type VideoShape,
} from "../../providers/simulator/media/sample_videos.ts";
import { SAMPLE_RATE, synthesizeSpeech } from "../../providers/simulator/media/speech.ts";
import { makeVideo } from "../../providers/simulator/media/video.ts";
import { writeWav } from "../../providers/simulator/media/wav.ts";

const samples = new SampleVideos();

/** A video on a background of one colour, as the simulator makes them. */
export async function videoOf(
  colour: VideoColour,
  seconds: number,
  shape: VideoShape["name"] = "16x9",
): Promise<Blob> {
  const sample = await samples.get(`${shape}_${colour}`);
  return new Blob([await makeVideo(sample, seconds * 1000)]);
}

const samplesOf = (seconds: number, voice = "alma") =>
  synthesizeSpeech("Over the stones. ".repeat(20), {
    voice,
    speed: 1,
    count: seconds * SAMPLE_RATE,
  });

export async function mp3(seconds: number): Promise<Blob> {
  const sampleCount = seconds * SAMPLE_RATE;
  return new Blob([
    await writeMp3((count) => samplesOf(count / SAMPLE_RATE), sampleCount, SAMPLE_RATE),
  ]);
}

export const wav = (seconds: number, rate = SAMPLE_RATE) =>
  new Blob([writeWav(samplesOf(seconds * rate / SAMPLE_RATE), rate)]);

export async function look<T>(
  bytes: Uint8Array<ArrayBuffer>,
  see: (video: InputVideoTrack, audio: InputAudioTrack | null, input: Input) => Promise<T>,
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
