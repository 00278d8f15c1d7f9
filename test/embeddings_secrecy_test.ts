import assert from "node:assert/strict";
import { openAdapters } from "../providers/registry.ts";
import { openEmbeddingsGateway } from "./helpers/embeddings_gateway.ts";
import { recordedEmbeddings, startFakeUpstream } from "./helpers/fake_upstream.ts";
import { linesAboveDebug } from "./helpers/logs.ts";

/** Every shipped adapter that serves embeddings. The simulator's is the one of `openai_compatible`. */
const PROVIDERS = [...openAdapters()]
  .filter(([name, { types }]) => name !== "simulator" && types.includes("embedding"))
  .map(([name]) => name);

function configFor(provider: string, baseUrl: string): string {
  return `
limits: { default: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 } }
providers:
  canary-provider: { adapter: ${provider}, base_url: "${baseUrl}", api_key: "\${CANARY_KEY:-sk-canary}", headers: { x-canary: canary-header } }
models:
  - id: our-model
    name: Ours
    type: embedding
    capabilities: [embeddings]
    limits: { max_dimensions: 8 }
    upstreams: [{ provider: canary-provider, model: canary-upstream-model, timeout_seconds: 5, cost: { input_price: "31.41592", unit: 1M tokens } }]
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: our-model, billing_type: token, input_price: "1", unit: 1M tokens }] }
`;
}

function traces(seen: string, upstream: string): string[] {
  const { host } = new URL(upstream);
  return ["canary", "31.41592", host].filter((trace) => seen.toLowerCase().includes(trace));
}

for (const provider of PROVIDERS) {
  Deno.test(`nothing of ${provider} shows in embeddings, their errors, receipts, rows or logs`, async () => {
    await using upstream = startFakeUpstream();
    const { base_path, cases } = recordedEmbeddings(provider)!;
    await using gateway = await openEmbeddingsGateway({
      config: configFor(provider, upstream.url + base_path),
    });
    let answered = 0;
    for (const { name, request: { inputs, encoding, dimensions }, reply } of cases) {
      upstream.answer(reply);
      const res = await gateway.embed({
        ...{ model: "our-model", input: inputs, encoding_format: encoding, dimensions },
      });
      if (res.status === 200) answered++;
      const id = res.headers.get("x-request-id");
      const seen = JSON.stringify([...res.headers]) + await res.text();
      assert.deepEqual(traces(seen, upstream.url), [], `${name}: ${seen}`);
      for (const path of [`/v1/usage/${id}`, `/v1/requests/${id}`]) {
        const shown = await (await gateway.get(path)).text();
        assert.deepEqual(traces(shown, upstream.url), [], `${path} of ${name}`);
      }
    }
    assert.ok(answered >= 2, `${answered} answers`);
    const list = await (await gateway.get("/v1/requests?limit=100")).text();
    assert.deepEqual(traces(list, upstream.url), [], list);
    const info = linesAboveDebug(gateway.logged()).join("\n");
    assert.deepEqual(traces(info, upstream.url), [], info);
    await gateway.verify();
  });
}
