import assert from "node:assert/strict";
import type { ByteStore } from "../../../src/domain/files/byte_store.ts";
import { MediaProbe } from "../../../src/domain/files/media_probe.ts";
import { mediaSamples } from "../../helpers/media_samples.ts";
import { mutate } from "../mutate.ts";
import type { FuzzTarget } from "../target.ts";

/** Marks of the formats, and numbers at the edges of what their lengths can be. */
const TOKENS = [
  ..."ftyp moov trak mdia stbl stsd stts stsz moof traf trun meta ispe mdat free".split(" "),
  ..."RIFF WAVE fmt  data LIST OggS fLaC ID3 IHDR acTL Exif OpusHead \x01vorbis \x05vorbis".split(
    " ",
  ),
  ...[
    [0x1a, 0x45, 0xdf, 0xa3],
    [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0x16, 0x54, 0xae, 0x6b],
    [0x1f, 0x43, 0xb6, 0x75],
    [0xff, 0xfb, 0x90, 0x64],
    [0xff, 0xd8, 0xff, 0xe1],
    [0, 0, 0, 0],
    [0, 0, 0, 1],
    [0x7f, 0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  ].map((bytes) => new Uint8Array(bytes)),
];

/** How often a worker had to be ended: no failure, since that is what it is for. */
export const counts = { sniffed: 0, measured: 0, ended: 0 };

let probe: MediaProbe;

function inMemory(bytes: Uint8Array): ByteStore {
  return {
    put: () => Promise.reject(new Error("only read")),
    delete: () => Promise.reject(new Error("only read")),
    get: (_key, { first, last } = { first: 0, last: bytes.length - 1 }) =>
      Promise.resolve(new Response(bytes.slice(first, last + 1)).body!),
  };
}

const isMeasure = (value: number | null) =>
  value === null || Number.isInteger(value) && value > 0 && value < 2 ** 31;

/** Any file gets an answer in time, with figures that the database can hold. */
const target: FuzzTarget = {
  timeoutMs: 20_000,
  // Only files that end: each that does not costs a worker, and changes of those are found all the same.
  async seeds() {
    const samples = await mediaSamples();
    return samples.map(([, bytes]) => bytes);
  },
  setup() {
    const onGivenUp = () => void counts.ended++;
    probe = new MediaProbe(onGivenUp, { deadlineMs: 1_000, silenceMs: 500 });
    return Promise.resolve({
      [Symbol.asyncDispose]: () => probe[Symbol.asyncDispose](),
    });
  },
  generate: (random, corpus) =>
    random.oneIn(50) ? random.bytes(random.size(4096)) : mutate(random, { corpus, tokens: TOKENS }),
  async run(input) {
    counts.sniffed++;
    const { type, facts } = await probe.sniff("account", input);
    if (type === null || input.length === 0) return;
    counts.measured++;
    const { kind, mimeType } = type;
    const { width, height, durationMs } = await probe.probe("account", inMemory(input), "key", {
      kind,
      mimeType,
      bytes: input.length,
      head: input.slice(0, 64 * 1024),
      sniffed: facts,
    });
    assert.ok([width, height, durationMs].every(isMeasure), `${width} ${height} ${durationMs}`);
  },
};

export default target;
