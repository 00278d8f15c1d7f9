import { hash } from "../random.ts";
import type { AudioReader } from "./audio_reader.ts";
import type { AudioStore } from "./audio_store.ts";
import { Glyphs } from "./glyphs.ts";
import { drawImage } from "./image.ts";
import type { SimulatedJob } from "./job.ts";
import { writePng } from "./png.ts";
import { COLOURS, nearestShape, type SampleName, SampleVideos } from "./sample_videos.ts";
import { readThumbnail } from "./thumbnail.ts";
import { makeVideo } from "./video.ts";

const CACHE_BYTES_MAX = 32 * 1024 * 1024;

export const MIME_TYPES = { image: "image/png", video: "video/mp4", avatar: "video/mp4" } as const;
export const EXTENSIONS = { image: "png", video: "mp4", avatar: "mp4" } as const;

type Rendered = Promise<Uint8Array<ArrayBuffer>>;

/** Makes outputs when they are fetched. The outputs made last are cached: many jobs may ask for the same. */
export class Renderer {
  readonly #cache = new Map<string, { rendered: Rendered; length: number }>();
  readonly #samples = new SampleVideos();
  #glyphs: Glyphs | null = null;
  #length = 0;

  constructor(private readonly audio: AudioStore, private readonly reader: AudioReader) {}

  render(job: SimulatedJob, index: number): Rendered {
    const { type, prompt, seed, width, height, count, lengthMs, images } = job;
    const audio = job.audio !== null && this.audio.get(job.audio) !== undefined ? job.audio : null;
    const key = JSON.stringify(
      [type, prompt, seed, width, height, count, lengthMs, images, audio, index],
    );
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached.rendered;
    }
    const rendered = job.lengthMs === null
      ? this.#renderImage(job, index)
      : this.#renderVideo(job, job.lengthMs);
    const entry = { rendered, length: 0 };
    this.#cache.set(key, entry);
    rendered.then(({ length }) => {
      this.#length += entry.length = length;
      this.#evict();
    }, () => this.#cache.delete(key));
    return rendered;
  }

  async #renderImage(job: SimulatedJob, index: number): Rendered {
    const { width, height, prompt, count } = job;
    const canvas = drawImage({
      width,
      height,
      prompt,
      seed: `${job.seed} ${index}`,
      footnote: count > 1 ? `${index + 1} of ${count}` : "",
      inputs: job.images.map(readThumbnail),
    }, this.#glyphs ??= new Glyphs());
    return await writePng(canvas);
  }

  async #renderVideo(
    { type, seed, width, height, audio }: SimulatedJob,
    lengthMs: number,
  ): Rendered {
    const colour = type === "avatar" ? type : COLOURS[hash(seed) % COLOURS.length]!;
    const name: SampleName = `${nearestShape(width / height).name}_${colour}`;
    const bytes = audio === null ? undefined : this.audio.get(audio);
    const frames = bytes === undefined ? null : await this.reader.mp3Frames(bytes);
    return await makeVideo(await this.#samples.get(name), lengthMs, frames);
  }

  #evict(): void {
    for (const [key, { length }] of this.#cache) {
      if (this.#length <= CACHE_BYTES_MAX) return;
      // An output that is still being made has no length yet.
      if (length === 0) continue;
      this.#cache.delete(key);
      this.#length -= length;
    }
  }
}
