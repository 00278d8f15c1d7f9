import { createHash } from "node:crypto";
import { mp3Entry, type Mp4Track } from "./mp4.ts";
import { mp3FramesOf } from "./read_audio.ts";

const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/** Sounds that avatars speak with, for as long as there is room for them. */
export class Sounds {
  readonly #kept = new Map<string, Uint8Array<ArrayBuffer>>();
  #length = 0;

  keep(bytes: Uint8Array<ArrayBuffer>): void {
    const name = soundName(bytes);
    if (this.#kept.has(name)) return;
    this.#kept.set(name, bytes);
    this.#length += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#length <= KEPT_BYTES_MAX) break;
      this.#kept.delete(oldest);
      this.#length -= length;
    }
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** A track of at most so many milliseconds; null where the sound is forgotten or of a kind of its own. */
  async trackOf(name: string, lengthMs: number): Promise<Mp4Track | null> {
    const bytes = this.#kept.get(name);
    if (bytes === undefined) return null;
    try {
      const sound = await mp3FramesOf(bytes);
      const { frames, sampleRate, channels, samplesPerFrame } = sound;
      const count = Math.floor(lengthMs * sampleRate / 1000 / samplesPerFrame);
      return {
        kind: "audio",
        timescale: sampleRate,
        entry: mp3Entry(sampleRate, channels),
        samples: frames.slice(0, count).map((frame) => ({
          bytes: frame,
          ticks: samplesPerFrame,
          isKey: true,
        })),
      };
    } catch {
      return null;
    }
  }
}

export function soundName(bytes: Uint8Array<ArrayBuffer>): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
