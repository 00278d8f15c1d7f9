import { type ChatGateway, openChatGateway } from "./chat_gateway.ts";

export interface EmbeddingsGateway extends ChatGateway {
  embed(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

/** Embeddings on the simulator: a plain model, one with a backup, one that never works, one without dimensions. */
const CONFIG = `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
plans:
  free: {}
  few-tokens: { limits: { tokens_per_minute: 20 } }
  texts: { quotas: { text: 1000 } }
providers:
  sim: { adapter: simulator }
  sick: { adapter: simulator, headers: { x-simulate: "status=500" } }
models:
  - id: embed
    name: Embed
    type: embedding
    capabilities: [embeddings]
    aliases: [embed-latest]
    limits: { max_inputs: 4, max_input_tokens: 50, max_dimensions: 1536 }
    upstreams: [{ provider: sim, model: embedding, cost: { input_price: "0.5", unit: 1K tokens } }]
  - id: backed
    name: Backed
    type: embedding
    capabilities: [embeddings]
    upstreams:
      - { provider: sick, model: embedding, priority: 0 }
      - { provider: sim, model: embedding, priority: 1 }
  - id: sick
    name: Sick
    type: embedding
    capabilities: [embeddings]
    upstreams: [{ provider: sick, model: embedding }]
  - { id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: sim, model: chat }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: embed, billing_type: token, input_price: "1", unit: 1K tokens }
      - { model: backed, billing_type: token, input_price: "1", unit: 1K tokens }
      - { model: sick, billing_type: token, input_price: "1", unit: 1K tokens }
      - { model: talk, billing_type: token, input_price: "1", output_price: "2", unit: 1K tokens }
`;

export async function openEmbeddingsGateway(
  options: { cash?: string; config?: string } = {},
): Promise<EmbeddingsGateway> {
  const gateway = await openChatGateway({ config: CONFIG, ...options });
  return {
    ...gateway,
    embed: (body, headers = {}) =>
      gateway.fetch("/v1/embeddings", {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify({ model: "embed", ...body }),
      }),
  };
}
