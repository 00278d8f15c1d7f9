import type { Adapter, ChatAdapter } from "../src/upstream/adapter.ts";
import { adapter as anthropic } from "./anthropic/adapter.ts";
import { adapter as azureOpenai } from "./azure_openai/adapter.ts";
import deepseek from "./deepseek/provider.yaml" with { type: "text" };
import { declaredAdapter } from "./dialect/declare.ts";
import { adapter as gemini } from "./gemini/adapter.ts";
import groq from "./groq/provider.yaml" with { type: "text" };
import llamaCpp from "./llama_cpp/provider.yaml" with { type: "text" };
import ollama from "./ollama/provider.yaml" with { type: "text" };
import openai from "./openai/provider.yaml" with { type: "text" };
import compatible from "./openai_compatible/provider.yaml" with { type: "text" };
import openrouter from "./openrouter/provider.yaml" with { type: "text" };
import { media as simulatorMedia } from "./simulator/media/adapter.ts";
import { baseUrl as simulatorUrl, simulator } from "./simulator/simulator.ts";
import { TOKENS_PER_ATTACHMENT } from "./simulator/usage.ts";
import replicate from "./replicate/provider.yaml" with { type: "text" };
import fal from "./fal/provider.yaml" with { type: "text" };
import runway from "./runway/provider.yaml" with { type: "text" };
import elevenlabs from "./elevenlabs/provider.yaml" with { type: "text" };
import heygen from "./heygen/provider.yaml" with { type: "text" };
import vllm from "./vllm/provider.yaml" with { type: "text" };

const openaiCompatible = declaredAdapter("openai_compatible/provider.yaml", compatible);
let simulatorChat: ChatAdapter | undefined;

/** Every adapter of this build, by the name a declaration uses. Nothing registers itself. */
export const ADAPTERS: ReadonlyMap<string, Adapter> = new Map(Object.entries(
  {
    simulator: {
      types: ["chat", "image", "video", "avatar", "drama", "speech"],
      baseUrl: simulatorUrl,
      get chat() {
        return simulatorChat ??= {
          ...openaiCompatible.chat!,
          imageTokens: () => TOKENS_PER_ATTACHMENT,
        };
      },
      media: simulatorMedia,
      transport: simulator.transport,
      // Declared with an address of its own, it runs elsewhere (`providers/simulator/serve.ts`).
      isInProcess: (url) => url.startsWith(simulatorUrl),
    },
    openai: declaredAdapter("openai/provider.yaml", openai, ["chat", "image", "video", "speech"]),
    openai_compatible: openaiCompatible,
    azure_openai: azureOpenai,
    anthropic,
    gemini,
    groq: declaredAdapter("groq/provider.yaml", groq),
    deepseek: declaredAdapter("deepseek/provider.yaml", deepseek),
    openrouter: declaredAdapter("openrouter/provider.yaml", openrouter),
    ollama: declaredAdapter("ollama/provider.yaml", ollama),
    vllm: declaredAdapter("vllm/provider.yaml", vllm),
    llama_cpp: declaredAdapter("llama_cpp/provider.yaml", llamaCpp),
    replicate: declaredAdapter("replicate/provider.yaml", replicate, ["image", "video"]),
    fal: declaredAdapter("fal/provider.yaml", fal, ["image", "video"]),
    runway: declaredAdapter("runway/provider.yaml", runway, ["video"]),
    elevenlabs: declaredAdapter("elevenlabs/provider.yaml", elevenlabs, ["speech"]),
    heygen: declaredAdapter("heygen/provider.yaml", heygen, ["avatar"]),
  } satisfies Record<string, Adapter>,
));

/** Adapters whose address only the operator knows. */
export const ADDRESS_NEEDED: ReadonlySet<string> = new Set(["openai_compatible", "azure_openai"]);
