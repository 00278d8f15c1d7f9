import schema from "../../schemas/requests/images_generations.schema.json" with { type: "json" };
import type {
  LimitedModel,
  MediaModelType,
  RequestCheck,
  RequestFields,
  TaskJob,
} from "./definition.ts";
import {
  listLimit,
  numberLimit,
  readAspectRatio,
  readDeclared,
  readInputImages,
  readOffered,
  readPrompt,
  readWhole,
} from "./limits.ts";
import { type Usage, withOptions } from "./usage.ts";

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

  async check(asked) {
    const request = { ...asked, body: withoutAuto(asked) };
    const prompt = readPrompt(request);
    const inputs = await readInputImages(request, {
      without: "text_to_image",
      with: "image_to_image",
    });
    const size = readOffered(request, { name: "size", limit: "sizes", code: "invalid_value" });
    const quality = readDeclared(request, { name: "quality", limit: "qualities" });
    const n = imageCount(request.model, request.body);
    const parameters = { n, ...size, ...quality, ...readAspectRatio(request) };
    return { job: { prompt, parameters, inputs }, maxUsage: imageUsage(n, parameters) };
  },

  /** Stored images; of a cancelled job, those that the provider bills. */
  meter({ parameters }, { outputs, reported }) {
    const asked = typeof parameters.n === "number" ? parameters.n : 1;
    const images = outputs?.length ?? Math.min(asked, reported?.outputs ?? 0);
    return { usage: imageUsage(images, parameters), units: images };
  },
};

/** Every image is a call: a provider may charge for each. */
export function imageUsage(images: number, parameters: TaskJob["parameters"]): Usage {
  return withOptions({ images, calls: images }, parameters);
}

/** `auto` leaves the choice to us, as no value does, unless the model offers it. */
function withoutAuto({ model, body }: Pick<RequestCheck, "model" | "body">): RequestFields {
  const isAuto = (name: string, limit: string) =>
    body[name] === "auto" && !listLimit(model, limit)?.includes("auto");
  return {
    ...body,
    ...(isAuto("size", "sizes") ? { size: undefined } : {}),
    ...(isAuto("quality", "qualities") ? { quality: undefined } : {}),
  };
}

function imageCount(model: LimitedModel, body: RequestFields): number {
  const max = numberLimit(model, "max_count") ?? schema.properties.n.maximum;
  return readWhole(body, "n", { min: 1, max }) ?? 1;
}
