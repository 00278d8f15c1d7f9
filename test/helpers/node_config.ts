/** Configuration of test nodes: images and chats of the simulator without delay, with high limits. */
export function nodeConfig(storage: string): string {
  return `
service: { name: Nodes, currency: EUR, currency_scale: 6 }
limits:
  default: { requests_per_minute: 10000000, tokens_per_minute: 10000000000, running_tasks: 100000 }
plans:
  free: {}
  metered: { limits: { requests_per_minute: 600 } }
outbound: { allow_private: true }
${storage}
providers:
  sim: { adapter: simulator, headers: { x-simulate: "seconds=0 pace=0" }, timeout_seconds: 10 }
models:
  - id: image-model
    name: Image
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64], max_count: 1 }
    upstreams: [{ provider: sim, model: image }]
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 10000, max_output_tokens: 100 }
    upstreams: [{ provider: sim, model: chat }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
      - { model: image-model, billing_type: per_call, price: "0.04", unit: image }
      - { model: talk, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }
`;
}

/** Queue, sessions and files where all nodes see them; the last as the S3 server of the test says. */
export function sharedStorage(s3: string): string {
  return s3.replace("storage: { ", "storage: { queue: postgres, sessions: postgres, ");
}
