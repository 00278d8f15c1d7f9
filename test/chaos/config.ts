/** Prices as the audit knows them, on its own: strings, and what a unit counts. */
export const PRICES = {
  talk: { input: "0.13333", cached: "0.0477", output: "0.47771" },
  rough: { input: "0.13333", cached: "0.0477", output: "0.47771" },
  image: "0.0413",
  second: "0.0507",
  videoMinimum: "0.08",
  characters: "0.5003",
} as const;

export const CURRENCY_SCALE = 6;
/** Attempts of a webhook; the last one failing ends it. */
export const RETRY_SECONDS = [0, 1, 1, 2, 2, 3];

/**
 * The configuration of a run. `steady` models run on a provider that only suffers with the network, so that
 * an open circuit breaker of the `rough` ones does not stop all load.
 */
export function chaosConfig(
  { upstream, database }: { upstream: string; database: "embedded" | "postgres" },
): string {
  const { talk } = PRICES;
  const storage = database === "postgres"
    ? "storage: { queue: postgres, sessions: postgres, files: local }"
    : "";
  const model = (id: string, type: string, capabilities: string, limits: string) => {
    const manner = id.startsWith("rough") ? "rough" : "steady";
    const provider = type === "chat" ? `${manner}-chat` : manner;
    return `
  - id: ${id}
    name: ${id}
    type: ${type}
    capabilities: [${capabilities}]
    limits: { ${limits} }
    ${type === "image" || type === "video" ? "deadline_seconds: 45" : ""}
    upstreams: [{ provider: ${provider}, model: ${type}, timeout_seconds: 4 }]`;
  };
  // Chats take the way to real providers; media needs the simulator's own API.
  const provider = (name: string, adapter: string) =>
    `  ${name}: { adapter: ${adapter}, base_url: "${upstream}", headers: { x-simulate: "seconds=0.5" } }`;
  const tokens = (id: string) =>
    `      - { model: ${id}, billing_type: token, input_price: "${talk.input}", cached_input_price: "${talk.cached}", output_price: "${talk.output}", unit: 1K tokens }`;
  const both = (text: (prefix: string) => string) => text("") + text("rough-");
  return `
service: { name: Chaos, currency: EUR, currency_scale: ${CURRENCY_SCALE} }
limits:
  default: { requests_per_minute: 10000000, tokens_per_minute: 10000000000, running_tasks: 100000 }
  queue_seconds_max: 90
outbound: { allow_private: true }
webhooks: { retry_seconds: [${RETRY_SECONDS.join(", ")}], timeout_seconds: 2 }
${storage}
providers:
${provider("steady", "simulator")}
${provider("rough", "simulator")}
${provider("steady-chat", "openai_compatible")}
${provider("rough-chat", "openai_compatible")}
models:${
    both((prefix) =>
      model(
        `${prefix}talk`,
        "chat",
        "chat, streaming",
        "context_tokens: 10000, max_output_tokens: 200",
      ) +
      model(
        `${prefix}image`,
        "image",
        "text_to_image",
        "sizes: [64x64], max_count: 3",
      ) +
      model(
        `${prefix}video`,
        "video",
        "text_to_video",
        'durations: [1, 2], aspect_ratios: ["1:1"]',
      ) +
      model(
        `${prefix}voice`,
        "speech",
        "text_to_speech",
        "voices: [alma], formats: [pcm], max_prompt_length: 400",
      )
    )
  }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
${
    both((prefix) =>
      `${tokens(`${prefix}talk`)}
      - { model: ${prefix}image, billing_type: per_call, price: "${PRICES.image}", unit: image }
      - { model: ${prefix}video, billing_type: duration, price: "${PRICES.second}", unit: second, minimum_charge: "${PRICES.videoMinimum}" }
      - { model: ${prefix}voice, billing_type: per_call, price: "${PRICES.characters}", unit: 1K characters }
`
    )
  }`;
}
