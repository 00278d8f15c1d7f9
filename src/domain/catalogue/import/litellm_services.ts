import { objectOf } from "../catalogue.ts";
import { readBaseUrl } from "./base_url.ts";
import { type Deployment, environmentName } from "./litellm_document.ts";
import { keyName } from "./names.ts";
import type { ProviderSource, SourceValue } from "./provider_drafts.ts";

/** How LiteLLM's name of a provider is one of ours. */
interface Service {
  readonly adapter: string;
  /** The variable of its key that LiteLLM reads where the file has none; null: it needs no key. */
  readonly key: string | null;
  /** Of a service that an adapter for many serves. */
  readonly baseUrl?: string;
  /** What our adapter expects at the end of a URL, and LiteLLM adds itself. */
  readonly path?: string;
}

const compatible = (key: string | null, baseUrl?: string): Service => ({
  adapter: "openai_compatible",
  key,
  ...(baseUrl === undefined ? {} : { baseUrl }),
});

const SERVICES: Readonly<Record<string, Service>> = {
  openai: { adapter: "openai", key: "OPENAI_API_KEY" },
  azure: { adapter: "azure_openai", key: "AZURE_API_KEY" },
  anthropic: { adapter: "anthropic", key: "ANTHROPIC_API_KEY", path: "/v1" },
  gemini: { adapter: "gemini", key: "GEMINI_API_KEY", path: "/v1beta" },
  groq: { adapter: "groq", key: "GROQ_API_KEY" },
  deepseek: { adapter: "deepseek", key: "DEEPSEEK_API_KEY" },
  openrouter: { adapter: "openrouter", key: "OPENROUTER_API_KEY" },
  ollama: { adapter: "ollama", key: null, path: "/v1" },
  ollama_chat: { adapter: "ollama", key: null, path: "/v1" },
  vllm: { adapter: "vllm", key: null },
  hosted_vllm: { adapter: "vllm", key: null },
  mistral: compatible("MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
  xai: compatible("XAI_API_KEY", "https://api.x.ai/v1"),
  together_ai: compatible("TOGETHERAI_API_KEY", "https://api.together.xyz/v1"),
  fireworks_ai: compatible("FIREWORKS_AI_API_KEY", "https://api.fireworks.ai/inference/v1"),
  perplexity: compatible("PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
  deepinfra: compatible("DEEPINFRA_API_KEY", "https://api.deepinfra.com/v1/openai"),
  cerebras: compatible("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  nvidia_nim: compatible("NVIDIA_NIM_API_KEY", "https://integrate.api.nvidia.com/v1"),
  sambanova: compatible("SAMBANOVA_API_KEY", "https://api.sambanova.ai/v1"),
  moonshot: compatible("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  openai_like: compatible(null),
  custom_openai: compatible(null),
  litellm_proxy: compatible(null),
  lm_studio: compatible(null),
  llamafile: compatible(null),
  xinference: compatible(null),
};

/** Names without a provider that LiteLLM knows. */
const BARE_NAMES: readonly (readonly [RegExp, service: string])[] = [
  [/^(?:gpt-|chatgpt-|o\d|text-embedding-|ft:gpt-)/, "openai"],
  [/^claude-/, "anthropic"],
];

export interface LitellmUpstream {
  /** LiteLLM's name of the provider, such as `azure`. */
  readonly service: string;
  /** The model's name at the provider. */
  readonly model: string;
  readonly source: ProviderSource;
}

/** The provider of a deployment; or the reason why there is none. */
export function readUpstream(
  { model, params }: Deployment,
  timeoutSeconds: number | undefined,
): LitellmUpstream | string {
  const named = params.custom_llm_provider;
  const [first, ...rest] = model.split("/") as [string, ...string[]];
  const service = typeof named === "string" ? named : rest.length > 0 ? first : bareService(model);
  if (service === null) return `LiteLLM's name ${model} does not tell its provider`;
  if (!Object.hasOwn(SERVICES, service)) return `there is no adapter for ${service}`;
  const name = rest.length > 0 && first === service ? rest.join("/") : model;
  if (name === "" || name.length > 256) return "the model has no usable name";
  const { adapter, key, ...preset } = SERVICES[service]!;
  const baseUrl = readAddress(params, { ...preset, isVersioned: adapter === "azure_openai" });
  if (typeof baseUrl === "string") return baseUrl;
  const isOther = adapter === "openai" && baseUrl !== undefined && !isOpenai(baseUrl);
  const hasNone = baseUrl === undefined && (isOther || adapter === "openai_compatible");
  if (hasNone || (adapter === "azure_openai" && baseUrl === undefined)) {
    return `${service} needs an api_base`;
  }
  return {
    service,
    model: name,
    source: {
      name: adapter === "openai_compatible" ? keyName(service)! : adapter,
      adapter: isOther ? "openai_compatible" : adapter,
      baseUrl,
      apiKey: readSecret(params.api_key) ?? (key === null ? undefined : { variable: key }),
      headers: readHeaders(params),
      timeoutSeconds,
    },
  };
}

function bareService(model: string): string | null {
  return BARE_NAMES.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}

/** Undefined: the adapter's own URL. A text is the reason why the URL cannot be used. */
function readAddress(
  { api_base, base_url, api_version }: Deployment["params"],
  { baseUrl, path = "", isVersioned }: Pick<Service, "baseUrl" | "path"> & { isVersioned: boolean },
): SourceValue | undefined | string {
  const given = api_base ?? base_url ?? baseUrl;
  if (given === undefined || given === null) return undefined;
  const hasVersion = isVersioned && ["string", "number"].includes(typeof api_version);
  const version = hasVersion ? `?api-version=${encodeURIComponent(String(api_version))}` : "";
  const variable = environmentName(given);
  if (variable !== null) return { variable, suffix: path + version };
  const read = typeof given === "string"
    ? readBaseUrl(given.includes("?") ? given : given + version, path)
    : null;
  return read ?? "its api_base is not an http or https URL";
}

function isOpenai(baseUrl: SourceValue): boolean {
  return "text" in baseUrl && new URL(baseUrl.text).hostname === "api.openai.com";
}

function readSecret(value: unknown): SourceValue | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const variable = environmentName(value);
  return variable === null ? { secret: value } : { variable };
}

const HEADERS_MAX = 32;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;

/** Their values may be keys, so that none is copied. */
function readHeaders(params: Deployment["params"]): Record<string, SourceValue> {
  const { organization, extra_headers, headers } = params;
  const all = {
    ...(organization === undefined ? {} : { "OpenAI-Organization": organization }),
    ...objectOf(headers),
    ...objectOf(extra_headers),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => {
      const read = HEADER.test(name) ? readSecret(value) : undefined;
      return read === undefined ? [] : [[name, read] as const];
    }).slice(0, HEADERS_MAX),
  );
}
