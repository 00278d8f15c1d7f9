import type { Model } from "../../platform/config/config.ts";

/** A model that a drama uses and is charged for, besides its own price. */
export interface DramaPart {
  readonly stage: "script" | "roles" | "storyboard" | "video" | "speech";
  readonly model: string;
  /** What it is used once for. */
  readonly per: "drama" | "shot";
}

/** The models that a drama is charged for; none for other types. */
export function dramaParts({ pipeline }: Pick<Model, "pipeline">): DramaPart[] {
  if (pipeline === null) return [];
  const { script, roles, storyboard, video } = pipeline;
  const parts: DramaPart[] = [{ stage: "script", model: script.model, per: "drama" }];
  if (roles.offered) parts.push({ stage: "roles", model: roles.model, per: "drama" });
  if (storyboard.offered) {
    parts.push({ stage: "storyboard", model: storyboard.model, per: "shot" });
  }
  if (!video.offered) return parts;
  parts.push({ stage: "video", model: video.model, per: "shot" });
  if (video.speech.offered) {
    parts.push({ stage: "speech", model: video.speech.model, per: "shot" });
  }
  return parts;
}
