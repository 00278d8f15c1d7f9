import type { Adapter, ChatAdapter } from "../src/upstream/adapter.ts";
import type { MediaJobType } from "../src/upstream/media_adapter.ts";
import { adapter as anthropic } from "./anthropic/adapter.ts";
import { adapter as azureOpenai } from "./azure_openai/adapter.ts";
import deepseek from "./deepseek/provider.yaml" with { type: "text" };
import { fileAdapter } from "./dialect/file_adapter.ts";
import elevenlabs from "./elevenlabs/provider.yaml" with { type: "text" };
import fal from "./fal/provider.yaml" with { type: "text" };
import { adapter as gemini } from "./gemini/adapter.ts";
import groq from "./groq/provider.yaml" with { type: "text" };
import heygen from "./heygen/provider.yaml" with { type: "text" };
import llamaCpp from "./llama_cpp/provider.yaml" with { type: "text" };
import ollama from "./ollama/provider.yaml" with { type: "text" };
import openai from "./openai/provider.yaml" with { type: "text" };
import compatible from "./openai_compatible/provider.yaml" with { type: "text" };
import openrouter from "./openrouter/provider.yaml" with { type: "text" };
import replicate from "./replicate/provider.yaml" with { type: "text" };
import runway from "./runway/provider.yaml" with { type: "text" };
import { media as simulatorMedia } from "./simulator/media/adapter.ts";
import { baseUrl as simulatorUrl, openSimulator, type Simulator } from "./simulator/simulator.ts";
import { TOKENS_PER_ATTACHMENT } from "./simulator/usage.ts";
import vllm from "./vllm/provider.yaml" with { type: "text" };

const TEXT = ["chat", "embedding"] as const;
const openaiCompatible = fileAdapter("openai_compatible/provider.yaml", compatible, TEXT);

/** Adapters that keep no state. */
const STATELESS: Readonly<Record<string, Adapter>> = {
  openai: fileAdapter("openai/provider.yaml", openai, [...TEXT, "image", "video", "speech"]),
  openai_compatible: openaiCompatible,
  azure_openai: azureOpenai,
  anthropic,
  gemini,
  groq: fileAdapter("groq/provider.yaml", groq),
  deepseek: fileAdapter("deepseek/provider.yaml", deepseek),
  openrouter: fileAdapter("openrouter/provider.yaml", openrouter, TEXT),
  ollama: fileAdapter("ollama/provider.yaml", ollama, TEXT),
  vllm: fileAdapter("vllm/provider.yaml", vllm, TEXT),
  llama_cpp: fileAdapter("llama_cpp/provider.yaml", llamaCpp, TEXT),
  replicate: fileAdapter("replicate/provider.yaml", replicate, ["image", "video"]),
  fal: fileAdapter("fal/provider.yaml", fal, ["image", "video"]),
  runway: fileAdapter("runway/provider.yaml", runway, ["video"]),
  elevenlabs: fileAdapter("elevenlabs/provider.yaml", elevenlabs, ["speech"]),
  heygen: fileAdapter("heygen/provider.yaml", heygen, ["avatar"]),
};

/** Every shipped adapter, by the name that a configuration uses. Nothing registers itself. */
export function openAdapters(
  simulator: Simulator = openSimulator(),
): ReadonlyMap<string, Adapter> {
  return new Map(Object.entries({ simulator: simulatorAdapter(simulator), ...STATELESS }));
}

function simulatorAdapter({ transport }: Simulator): Adapter {
  let chat: ChatAdapter | undefined;
  return {
    // A drama is made of the other types.
    types: [...TEXT, "drama", ...Object.keys(simulatorMedia) as MediaJobType[]],
    baseUrl: simulatorUrl,
    get chat() {
      return chat ??= { ...openaiCompatible.chat!, imageTokens: () => TOKENS_PER_ATTACHMENT };
    },
    get embeddings() {
      return openaiCompatible.embeddings!;
    },
    media: simulatorMedia,
    transport,
    // With a base URL of its own it runs as a server (`providers/simulator/serve.ts`).
    isInProcess: (url) => url.startsWith(simulatorUrl),
  };
}

/** Adapters whose base URL only the operator knows. */
export const BASE_URL_REQUIRED: ReadonlySet<string> = new Set([
  "openai_compatible",
  "azure_openai",
]);
