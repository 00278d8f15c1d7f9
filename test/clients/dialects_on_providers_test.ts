import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { EMULATED_KEY, serveProvider, WIRES } from "../helpers/emulated_provider.ts";
import { anthropicPackage } from "./messages_suite.ts";
import { openaiResponses } from "./responses_suite.ts";

const configFor = (adapter: string, baseUrl: string) => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
plans: { free: {} }
providers:
  emulated: { adapter: ${adapter}, base_url: "${baseUrl}", api_key: "\${EMULATED_KEY:-${EMULATED_KEY}}" }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming, vision, tools, json_schema]
    limits: { context_tokens: 100000, max_output_tokens: 1000 }
    upstreams: [{ provider: emulated, model: chat }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries:
      - { model: talk, billing_type: token, input_price: "1.00", output_price: "2.00", unit: 1M tokens }
`;

for (const adapter of Object.keys(WIRES)) {
  Deno.test(`Messages and Responses work by their official packages, through ${adapter}`, async (t) => {
    await using provider = serveProvider(adapter);
    await using gateway = await openChatGateway({ config: configFor(adapter, provider.baseUrl) });
    const service = { address: gateway.address, key: gateway.key, model: "talk" };
    await anthropicPackage(t, service);
    await openaiResponses(t, service);
    assert.deepEqual(provider.strange, []);
    await gateway.verify();
  });
}
