import type { UpstreamTarget } from "../../src/upstream/adapter.ts";
import { lowerCase } from "../dialect/write.ts";

/** A model name that contains a collection (`tunedModels/…`) is used as it is. */
export function modelPath({ model }: UpstreamTarget): string {
  return model.includes("/") ? model : `models/${model}`;
}

export function geminiHeaders(target: UpstreamTarget, accept: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept,
    ...(target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey }),
    ...lowerCase(target.headers),
  };
}
