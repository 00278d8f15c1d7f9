import { objectOf } from "../catalogue.ts";
import { readBaseUrl } from "./base_url.ts";
import { keyName } from "./names.ts";
import type { NewApiChannel } from "./new_api_dump.ts";
import type { ProviderSource, SourceValue } from "./provider_drafts.ts";

/** How a type of channel is one of our adapters. */
interface ChannelType {
  readonly title: string;
  readonly adapter: string;
  /** The service itself, for channels without a URL; without it the adapter knows. */
  readonly baseUrl?: string;
  /** What new-api adds to the URL of a channel, up to the name of an endpoint. */
  readonly path: string;
}

const compatible = (title: string, baseUrl: string | undefined, path: string): ChannelType => ({
  title,
  adapter: "openai_compatible",
  ...(baseUrl === undefined ? {} : { baseUrl }),
  path,
});

const OPENAI = 1;
const AZURE = 3;
const CUSTOM = 8;
const ENABLED = 1;

/** By new-api's number. Types that speak a protocol of their own and have no adapter are not here. */
const CHANNEL_TYPES: Readonly<Record<number, ChannelType>> = {
  [OPENAI]: { title: "openai", adapter: "openai", path: "/v1" },
  [AZURE]: { title: "azure", adapter: "azure_openai", path: "" },
  4: { title: "ollama", adapter: "ollama", path: "/v1" },
  [CUSTOM]: compatible("custom", undefined, ""),
  14: { title: "anthropic", adapter: "anthropic", path: "/v1" },
  17: compatible("ali", "https://dashscope.aliyuncs.com", "/compatible-mode/v1"),
  20: { title: "openrouter", adapter: "openrouter", path: "/v1" },
  24: { title: "gemini", adapter: "gemini", path: "/v1beta" },
  25: compatible("moonshot", "https://api.moonshot.cn", "/v1"),
  26: compatible("zhipu", "https://open.bigmodel.cn", "/api/paas/v4"),
  27: compatible("perplexity", "https://api.perplexity.ai", ""),
  31: compatible("lingyiwanwu", "https://api.lingyiwanwu.com", "/v1"),
  40: compatible("siliconflow", "https://api.siliconflow.cn", "/v1"),
  42: compatible("mistral", "https://api.mistral.ai", "/v1"),
  43: { title: "deepseek", adapter: "deepseek", path: "" },
  45: compatible("volcengine", "https://ark.cn-beijing.volces.com", "/api/v3"),
  46: compatible("baidu", "https://qianfan.baidubce.com", "/v2"),
  47: compatible("xinference", undefined, "/v1"),
  48: compatible("xai", "https://api.x.ai", "/v1"),
};

export interface ReadChannel {
  /** One for each key of the channel. */
  readonly sources: readonly ProviderSource[];
  /** Names of the service in a price list. */
  readonly services: readonly string[];
}

/** The providers of a channel; or the reason why there are none. */
export function readChannel(channel: NewApiChannel): ReadChannel | string {
  if (channel.status !== ENABLED) return "it is disabled";
  const type = CHANNEL_TYPES[channel.type];
  if (type === undefined) return `there is no adapter for channels of type ${channel.type}`;
  const baseUrl = addressOf(channel, type);
  if (typeof baseUrl === "string") return baseUrl;
  const isOther = channel.type === OPENAI && baseUrl !== undefined;
  const source: ProviderSource = {
    name: keyName(channel.name) ?? `${type.title}-${channel.id}`,
    adapter: isOther ? "openai_compatible" : type.adapter,
    baseUrl,
    headers: channel.openai_organization === ""
      ? {}
      : { "OpenAI-Organization": { secret: channel.openai_organization } },
  };
  // A dump needs no keys: each key of a channel is a variable to set.
  const sources = type.adapter === "ollama" ? [source] : Array.from(
    { length: keysOf(channel) },
    (_, at) => ({ ...source, apiKey: { secret: `${channel.id} ${at}` } }),
  );
  return { sources, services: [type.title, type.adapter] };
}

function addressOf(
  { type, base_url, other }: NewApiChannel,
  { baseUrl, path, adapter }: ChannelType,
): SourceValue | undefined | string {
  const given = base_url.trim() === "" ? baseUrl : base_url;
  if (given === undefined) {
    return adapter === "openai_compatible" || type === AZURE ? "it has no URL" : undefined;
  }
  if (type === CUSTOM && !/\/chat\/completions\/?$/.test(given)) {
    return "its URL does not end in /chat/completions";
  }
  const version = type === AZURE && other.trim() !== ""
    ? `?api-version=${encodeURIComponent(other.trim())}`
    : "";
  const read = readBaseUrl(given + version, path);
  if (read === null) return "its URL is not an http or https URL";
  // OpenAI's own URL is the adapter's.
  const isOwn = type === OPENAI && "text" in read && read.text === "https://api.openai.com/v1";
  return isOwn ? undefined : read;
}

const KEYS_MAX = 32;

/** How many keys share the requests of a channel, without those that are disabled. */
function keysOf({ channel_info: info }: NewApiChannel): number {
  if (info?.is_multi_key !== true) return 1;
  const disabled = Object.values(objectOf(info.multi_key_status_list) ?? {})
    .filter((status) => status !== ENABLED).length;
  const size = Number(info.multi_key_size) - disabled;
  return Number.isInteger(size) ? Math.min(KEYS_MAX, Math.max(1, size)) : 1;
}

const CHAIN_MAX = 16;

/** The name of a model at the provider of a channel. A mapping may lead on to another. */
export function mappedModel({ model_mapping }: NewApiChannel, name: string): string {
  let model = name;
  for (let turn = 0; turn < CHAIN_MAX; turn++) {
    const next = model_mapping?.[model];
    if (typeof next !== "string" || next === "" || next === name) break;
    model = next;
  }
  return model;
}

/** The models, or the groups, of a list with commas. */
export function splitList(text: string): string[] {
  return [...new Set(text.split(",").map((each) => each.trim()).filter((each) => each !== ""))];
}
