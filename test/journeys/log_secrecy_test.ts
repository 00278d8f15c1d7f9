import assert from "node:assert/strict";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";

const random = "q7Rt2Lm9Xc4Vb6Nz1Kd8";
/** Keys as the environment gives them: some have a shape that is known, some have none. */
const ENVIRONMENT = {
  KEY_GROQ: `gsk_${random}${random}`,
  KEY_PLAIN: "canaryvaluewithoutanyshape",
  KEY_PAIR: `9c1f6a3e-0b5d-4c2e-8a7f-1234567890ab:${"0123456789abcdef".repeat(2)}`,
  KEY_QUOTED: "canary+with/slashes=and=more",
};

function configFor(baseUrl: string): string {
  const names = Object.keys(ENVIRONMENT);
  const providers = names.map((name) =>
    `  p-${name.toLowerCase()}: { adapter: openai_compatible, base_url: "${baseUrl}", api_key: "\${${name}}" }`
  );
  const upstreams = names.map((name) =>
    `{ provider: p-${name.toLowerCase()}, model: theirs, timeout_seconds: 5 }`
  );
  return `
providers:
${providers.join("\n")}
models:
  - id: our-model
    name: Ours
    type: chat
    capabilities: [chat, streaming]
    upstreams: [${upstreams.join(", ")}]
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: our-model, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] }
`;
}

Deno.test({
  name:
    "no configured secret is in the log at level debug, whatever an upstream or a client repeats",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using upstream = startFakeUpstream({});
    await using gateway = await openGateway({
      config: configFor(`${upstream.url}/v1`),
      environment: ENVIRONMENT,
    });
    const password = gateway.store.databaseUrl && new URL(gateway.store.databaseUrl).password;
    const canaries = [
      ...Object.values(ENVIRONMENT),
      `gsk_${random}notconfigured`,
      `xai-${random}notconfigured`,
      ADMIN_TOKEN,
      gateway.key,
      ...(password !== undefined && password.length >= 8 ? [password] : []),
    ];
    const credit = { kind: "cash", amount: "5.00", reference: "r1" };
    await (await gateway.admin("POST", `/accounts/${gateway.account}/credits`, credit)).body
      ?.cancel();
    for (const status of [401, 500, 400]) {
      upstream.answer({
        status,
        body: { error: { message: `Not this: ${canaries.join(" or ")}` } },
      });
      const res = await gateway.fetch("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "our-model", messages: [{ role: "user", content: "x" }] }),
      });
      assert.ok(res.status >= 400);
      const seen = await res.text();
      for (const canary of canaries) assert.ok(!seen.includes(canary));
    }
    for (const canary of canaries) {
      const res = await gateway.get(`/v1/models/${encodeURIComponent(canary)}`, {
        "x-client-request-id": canary.slice(0, 60),
      });
      await res.body?.cancel();
    }
    const logged = gateway.logged();
    assert.match(logged, /upstream failed[\s\S]*Not this: /);
    assert.match(logged, /"path":"\/v1\/models\/[^"]*\[secret\]/);
    for (const canary of canaries) {
      assert.ok(!logged.includes(canary), `${canary.slice(0, 6)}… is in the log`);
      assert.ok(!logged.includes(encodeURIComponent(canary)), `${canary.slice(0, 6)}… encoded`);
    }
  },
});
