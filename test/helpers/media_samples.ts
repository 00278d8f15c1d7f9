import { encodeMp3 } from "../../src/lib/encode_mp3.ts";
import { flac, joined, m4a, oggOpus, oggVorbis, png, text, wav } from "./media.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A small file of every type that is accepted, real or as far as a parser reads; some types twice. */
export async function mediaSamples(): Promise<[mimeType: string, bytes: Bytes][]> {
  const mp4 = await video("mp4");
  return [
    ["image/png", png()],
    ["image/apng", apng()],
    ["image/jpeg", jpeg()],
    ["image/gif", joined([text("GIF89a"), [3, 0, 2, 0, 0x80, 0, 0], new Array(6).fill(0), [0x3b]])],
    ["image/webp", webp()],
    ["image/avif", heif("avif")],
    ["image/heic", heif("heic")],
    ["image/heif", heif("mif1")],
    ["image/bmp", bmp()],
    ["image/tiff", tiff()],
    ["audio/mpeg", await mp3()],
    ["audio/wav", wav(0.1)],
    ["audio/ogg", oggOpus(5)],
    ["audio/ogg", oggVorbis(5)],
    ["audio/flac", flac(1)],
    ["audio/aac", adts()],
    [
      "audio/amr",
      joined([text("#!AMR\n"), ...new Array(5).fill([0x3c, ...new Array(31).fill(0)])]),
    ],
    ["audio/aiff", aiff()],
    ["audio/mp4", await m4a(5)],
    ["audio/mp4", await m4a(5, { codec: "opus", samples: 960 })],
    ["video/mp4", mp4],
    ["video/mp4", await video("fragmented")],
    ["video/quicktime", await video("mov")],
    ["video/webm", await video("webm")],
    ["video/matroska", await video("mkv")],
    ["video/mpeg", joined([[0, 0, 1, 0xba, 0x21, 0, 1, 0, 1, 0x80, 0, 1], new Array(40).fill(0)])],
    ["video/3gpp", branded(mp4, "3gp5")],
    ["video/3gpp2", branded(mp4, "3g2a")],
    ["video/ogg", theora()],
    ["video/x-msvideo", avi()],
  ];
}

async function video(kind: "mp4" | "fragmented" | "mov" | "webm" | "mkv"): Promise<Bytes> {
  const bunny = await import("mediabunny");
  const format = {
    mp4: () => new bunny.Mp4OutputFormat({ fastStart: "in-memory" }),
    fragmented: () => new bunny.Mp4OutputFormat({ fastStart: "fragmented" }),
    mov: () => new bunny.MovOutputFormat({ fastStart: "in-memory" }),
    webm: () => new bunny.WebMOutputFormat(),
    mkv: () => new bunny.MkvOutputFormat(),
  }[kind]();
  const target = new bunny.BufferTarget();
  const output = new bunny.Output({ format, target });
  const images = new bunny.EncodedVideoPacketSource("vp9");
  const audio = new bunny.EncodedAudioPacketSource("opus");
  output.addVideoTrack(images);
  output.addAudioTrack(audio);
  await output.start();
  for (let n = 0; n < 5; n++) {
    const image = new bunny.EncodedPacket(
      new Uint8Array(30),
      n === 0 ? "key" : "delta",
      n / 5,
      0.2,
    );
    const packet = new bunny.EncodedPacket(new Uint8Array([248, 0]), "key", n / 5, 0.02);
    await images.add(image, {
      decoderConfig: { codec: "vp09.00.10.08", codedWidth: 64, codedHeight: 36 },
    });
    await audio.add(packet, {
      decoderConfig: { codec: "opus", sampleRate: 48_000, numberOfChannels: 1 },
    });
  }
  await output.finalize();
  return new Uint8Array(target.buffer!);
}

function branded(mp4: Bytes, brand: string): Bytes {
  const bytes = mp4.slice();
  bytes.set(text(brand), 8);
  return bytes;
}

async function mp3(): Promise<Bytes> {
  const samples = Int16Array.from({ length: 2400 }, (_, at) => 8000 * Math.sin(at / 9));
  return new Uint8Array(await encodeMp3({ samples, channels: 1, sampleRate: 24_000 }, 64));
}

function adts(): Bytes {
  const frame = [0xff, 0xf1, 0x60, 0x40, 4, 0, 0xfc, ...new Array(25).fill(0)];
  return joined(new Array(6).fill(frame));
}

function apng(): Bytes {
  const plain = png();
  const control = [0, 0, 0, 8, ...text("acTL"), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
  return joined([plain.subarray(0, 33), control, plain.subarray(33)]);
}

function jpeg(): Bytes {
  return joined([
    [0xff, 0xd8, 0xff, 0xe0, 0, 16, ...text("JFIF"), 0, 1, 1, 0, 0, 1, 0, 1, 0, 0],
    [0xff, 0xe1, 0, 34, ...text("Exif"), 0, 0],
    tiff().subarray(0, 26),
    [0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0],
    [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34, 0xff, 0xd9],
  ]);
}

function tiff(): Bytes {
  const entry = (
    tag: number,
    value: number,
  ) => [tag & 255, tag >> 8, 3, 0, 1, 0, 0, 0, value, 0, 0, 0];
  const start = [...text("II"), 42, 0, 8, 0, 0, 0, 3, 0];
  return joined([start, entry(0x112, 6), entry(0x100, 3), entry(0x101, 2), [0, 0, 0, 0]]);
}

function webp(): Bytes {
  const image = [...text("VP8X"), 10, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0];
  return joined([text("RIFF"), [image.length + 4, 0, 0, 0], text("WEBP"), image]);
}

function heif(brand: string): Bytes {
  const box = (name: string, ...content: (Uint8Array | number[])[]) => {
    const inner = joined(content);
    return joined([[0, 0, 0, inner.length + 8], text(name), inner]);
  };
  const size = box("ispe", [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2]);
  return joined([
    box("ftyp", text(brand), [0, 0, 0, 0], text(`${brand}miaf`)),
    box("meta", [0, 0, 0, 0], box("iprp", box("ipco", size))),
  ]);
}

function bmp(): Bytes {
  const head = [...text("BM"), 60, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0];
  return joined([head, [3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0], new Array(30).fill(0)]);
}

function aiff(): Bytes {
  const common = [0, 1, 0, 0, 0, 4, 0, 16, 0x40, 0x0b, 0xfa, 0, 0, 0, 0, 0, 0, 0];
  const soundChunk = [...text("SSND"), 0, 0, 0, 16, ...new Array(16).fill(0)];
  const content = [...text("AIFFCOMM"), 0, 0, 0, 18, ...common, ...soundChunk];
  return joined([text("FORM"), [0, 0, 0, content.length], content]);
}

function theora(): Bytes {
  const bytes = oggOpus(5);
  bytes.set([0x80, ...text("theora")], 28);
  return bytes;
}

function avi(): Bytes {
  const content = [...text("AVI LIST"), 4, 0, 0, 0, ...text("hdrl"), ...new Array(40).fill(0)];
  return joined([text("RIFF"), [content.length, 0, 0, 0], content]);
}
