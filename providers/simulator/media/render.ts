import type { Job } from "./job.ts";
import { drawPicture } from "./picture.ts";
import { writePng } from "./png.ts";
import type { Sounds } from "./sounds.ts";
import { readThumbnail } from "./thumbnail.ts";
import { makeClip } from "./video.ts";

/** What was drawn last: the same asked again, by many tasks or after a restart, is not drawn again. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

export const MIME_TYPES = { image: "image/png", video: "video/mp4", avatar: "video/mp4" } as const;
export const EXTENSIONS = { image: "png", video: "mp4", avatar: "mp4" } as const;

type Drawn = Promise<Uint8Array<ArrayBuffer>>;

/** Draws outputs, lazily: nothing is drawn that nobody fetches. */
export class Renderer {
  readonly #kept = new Map<string, { drawn: Drawn; length: number }>();
  #length = 0;

  constructor(readonly sounds: Sounds) {}

  render(job: Job, index: number): Drawn {
    const { type, prompt, seed, width, height, count, lengthMs, pictures } = job;
    const sound = job.sound !== null && this.sounds.has(job.sound) ? job.sound : null;
    const shown = [type, prompt, seed, width, height, count, lengthMs, pictures, sound, index];
    const key = JSON.stringify(shown);
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.drawn;
    }
    const entry = { drawn: draw(job, index, this.sounds), length: 0 };
    this.#kept.set(key, entry);
    entry.drawn.then(({ length }) => {
      this.#length += entry.length = length;
      this.#forget();
    }, () => this.#kept.delete(key));
    return entry.drawn;
  }

  #forget(): void {
    for (const [key, { length }] of this.#kept) {
      if (this.#length <= KEPT_BYTES_MAX) return;
      // What is being drawn has no length yet.
      if (length === 0) continue;
      this.#kept.delete(key);
      this.#length -= length;
    }
  }
}

async function draw(job: Job, index: number, sounds: Sounds): Drawn {
  const { width, height, prompt, seed, lengthMs } = job;
  const inputs = job.pictures.map(readThumbnail);
  if (lengthMs === null) {
    const note = job.count > 1 ? `${index + 1} of ${job.count}` : "";
    return await writePng(
      drawPicture({ width, height, prompt, seed: `${seed} ${index}`, note, inputs }),
    );
  }
  return await makeClip({
    width,
    height,
    durationMs: lengthMs,
    prompt,
    seed,
    backdrop: inputs[0] ?? null,
    speaks: job.type === "avatar",
    sound: job.sound === null ? null : await sounds.trackOf(job.sound, lengthMs),
  });
}
