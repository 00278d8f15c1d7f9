/** Kinds of model; named by the published API. */
export const MODEL_TYPES = ["chat", "image", "video", "avatar", "drama", "speech"] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** "a chat", "an image": to go before "model". */
export function withArticle(type: ModelType): string {
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}
