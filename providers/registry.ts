import type { Adapter } from "../src/upstream/adapter.ts";

/** An adapter whose operations come with later releases; declared, so that files can name it. */
const announced = (...types: Adapter["types"]): Adapter => ({ types, baseUrl: null });

/** Every adapter of this build, by the name a declaration uses. Nothing registers itself. */
export const ADAPTERS: ReadonlyMap<string, Adapter> = new Map(Object.entries({
  simulator: announced("chat", "image", "video", "avatar", "drama", "speech"),
  openai: announced("chat", "image", "video", "speech"),
  openai_compatible: announced("chat"),
  azure_openai: announced("chat"),
  anthropic: announced("chat"),
  gemini: announced("chat"),
  replicate: announced("image", "video"),
  fal: announced("image", "video"),
  runway: announced("video"),
  elevenlabs: announced("speech"),
  heygen: announced("avatar"),
} satisfies Record<string, Adapter>));
