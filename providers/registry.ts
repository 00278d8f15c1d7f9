import type { AdapterFacts } from "../src/upstream/adapter.ts";

/** Every adapter of this build, by the name a declaration uses. Nothing registers itself. */
export const ADAPTERS: ReadonlyMap<string, AdapterFacts> = new Map(Object.entries(
  {
    simulator: { types: ["chat", "image", "video", "avatar", "drama", "speech"] },
    openai: { types: ["chat", "image", "video", "speech"] },
    openai_compatible: { types: ["chat"] },
    azure_openai: { types: ["chat"] },
    anthropic: { types: ["chat"] },
    gemini: { types: ["chat"] },
    replicate: { types: ["image", "video"] },
    fal: { types: ["image", "video"] },
    runway: { types: ["video"] },
    elevenlabs: { types: ["speech"] },
    heygen: { types: ["avatar"] },
  } satisfies Record<string, AdapterFacts>,
));
