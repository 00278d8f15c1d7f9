/** A provider that a new configuration can begin with. */
export interface StarterProvider {
  readonly title: string;
  /** The environment variable of its key, as its own documentation names it; null: it needs none. */
  readonly apiKey: string | null;
  /** The environment variable of its URL, where only the operator knows it. */
  readonly baseUrl?: string;
}

/** By the name of the adapter, in the order in which they are offered. */
export const STARTER_PROVIDERS: Readonly<Record<string, StarterProvider>> = {
  openai: { title: "OpenAI", apiKey: "OPENAI_API_KEY" },
  anthropic: { title: "Anthropic", apiKey: "ANTHROPIC_API_KEY" },
  gemini: { title: "Google Gemini", apiKey: "GEMINI_API_KEY" },
  groq: { title: "Groq", apiKey: "GROQ_API_KEY" },
  deepseek: { title: "DeepSeek", apiKey: "DEEPSEEK_API_KEY" },
  openrouter: { title: "OpenRouter", apiKey: "OPENROUTER_API_KEY" },
  azure_openai: {
    title: "Azure OpenAI",
    apiKey: "AZURE_OPENAI_API_KEY",
    baseUrl: "AZURE_OPENAI_BASE_URL",
  },
  ollama: { title: "Ollama on this machine", apiKey: null },
  vllm: { title: "vLLM on this machine", apiKey: null },
  llama_cpp: { title: "llama.cpp on this machine", apiKey: null },
  openai_compatible: {
    title: "Any other OpenAI-compatible server",
    apiKey: "OPENAI_COMPATIBLE_API_KEY",
    baseUrl: "OPENAI_COMPATIBLE_BASE_URL",
  },
  replicate: { title: "Replicate (images, video)", apiKey: "REPLICATE_API_TOKEN" },
  fal: { title: "fal (images, video)", apiKey: "FAL_KEY" },
  runway: { title: "Runway (video)", apiKey: "RUNWAY_API_KEY" },
  elevenlabs: { title: "ElevenLabs (speech)", apiKey: "ELEVENLABS_API_KEY" },
  heygen: { title: "HeyGen (avatars)", apiKey: "HEYGEN_API_KEY" },
  simulator: { title: "The built-in simulator, which needs no key", apiKey: null },
};
