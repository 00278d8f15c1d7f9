import assert from "node:assert/strict";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const CONFIG = new URL("../helpers/config.yaml", import.meta.url);

/** The usual configuration with another rate for all accounts. */
async function configWithRate(requestsPerMinute: number): Promise<string> {
  const text = await Deno.readTextFile(CONFIG);
  const changed = text.replace(
    /requests_per_minute: \d+/,
    `requests_per_minute: ${requestsPerMinute}`,
  );
  assert.notEqual(changed, text);
  return changed;
}

Deno.test(
  "a key's requests per minute hold across three nodes that are called at once",
  STRICT,
  async () => {
    const rate = 600;
    const config = await configWithRate(rate);
    await using first = await openGateway({ config });
    await using second = await openGateway({ config, beside: first });
    await using third = await openGateway({ config, beside: first });
    const { key } = await first.newKey();
    const nodes = [first, second, third];
    const statuses = new Map<number, number>();
    const call = async (node: TestGateway) => {
      const res = await node.get("/v1/models/tiny-chat", { authorization: `Bearer ${key}` });
      await res.body?.cancel();
      statuses.set(res.status, (statuses.get(res.status) ?? 0) + 1);
      assert.equal(res.headers.get("x-ratelimit-limit"), String(rate));
      const remaining = Number(res.headers.get("x-ratelimit-remaining"));
      assert.ok(remaining >= 0 && remaining <= rate, `${remaining} left`);
      if (res.status === 429) assert.ok(Number(res.headers.get("retry-after")) >= 1);
    };
    const started = performance.now();
    await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < 60; i++) await call(node);
        })
      ),
    );
    const seconds = (performance.now() - started) / 1000;
    const most = rate + rate / 60 * seconds;
    const passed = statuses.get(200) ?? 0;
    assert.deepEqual([...statuses.keys()].sort(), [200, 429]);
    assert.ok(passed <= most + nodes.length * rate / 60, `${passed} passed in ${seconds} s`);
    assert.ok(passed >= rate - nodes.length * rate / 60, `${passed} passed in ${seconds} s`);
  },
);
