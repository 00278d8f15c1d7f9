/** Kinds of model; named by the published API. */
export const MODEL_TYPES = ["chat", "image", "video", "avatar", "drama", "speech"] as const;
export type ModelType = (typeof MODEL_TYPES)[number];
