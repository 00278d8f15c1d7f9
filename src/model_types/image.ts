import schema from "../../schemas/requests/images_generations.schema.json" with { type: "json" };
import type { LimitedModel, MediaModelType, RequestFields } from "./definition.ts";
import {
  numberLimit,
  readAspectRatio,
  readInputImages,
  readOffered,
  readPrompt,
  readWhole,
} from "./limits.ts";
import type { Usage } from "./usage.ts";

export const image: MediaModelType = {
  work: "media",
  output: "image",
  capabilities: ["text_to_image", "image_to_image"],
  limits: [
    ...["aspect_ratios", "max_prompt_length", "sizes", "qualities", "max_count"],
    "max_input_images",
  ],
  units: { per_call: ["image", "call"] },
  quota: "image",
  endpoint: { path: "/images/generations", operation: "generation" },
  request: { name: "images_generations", schema },

  async check(request) {
    const prompt = readPrompt(request);
    const inputs = await readInputImages(request, {
      without: "text_to_image",
      with: "image_to_image",
    });
    const size = readOffered(request, { name: "size", limit: "sizes", code: "invalid_value" });
    const ratio = readAspectRatio(request);
    const n = imageCount(request.model, request.body);
    return {
      job: { prompt, parameters: { n, ...size, ...ratio }, inputs },
      maxUsage: imageUsage(n),
    };
  },

  /** Stored images; of a cancelled job, those that the provider bills. */
  meter({ parameters }, { outputs, reported }) {
    const asked = typeof parameters.n === "number" ? parameters.n : 1;
    const images = outputs?.length ?? Math.min(asked, reported?.outputs ?? 0);
    return { usage: imageUsage(images), units: images };
  },
};

/** Every image is a call: a provider may charge for each. */
export function imageUsage(images: number): Usage {
  return { images, calls: images };
}

function imageCount(model: LimitedModel, body: RequestFields): number {
  const max = numberLimit(model, "max_count") ?? schema.properties.n.maximum;
  return readWhole(body, "n", { min: 1, max }) ?? 1;
}
