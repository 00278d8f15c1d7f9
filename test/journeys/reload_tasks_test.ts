import assert from "node:assert/strict";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const CONFIG = Deno.readTextFileSync(
  new URL("../helpers/drama_config.yaml", import.meta.url),
);
const ONE_MODEL = `
service: { currency: EUR }
outbound: { allow_private: true }
providers: { other: { adapter: simulator } }
models:
  - { id: other, name: Other, type: chat, capabilities: [chat], upstreams: [{ provider: other }] }
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: other, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }]
`;

Deno.test("a task goes on under the configuration it was accepted under, though its models are gone from the file", async () => {
  await using gateway = await openMediaGateway({
    config: CONFIG.replace('x-simulate: "seconds=0"', 'x-simulate: "seconds=1"'),
  });
  const { id } = await gateway.submit("/v1/dramas/generations", {
    model: "play",
    title: "Tides",
    script: "Mara waits at the sea for Jon.",
    characters: [{ name: "Mara" }],
    business_id: "kept",
    callback_url: "http://127.0.0.1:9/hook",
  });
  await Deno.writeTextFile(gateway.configFile, ONE_MODEL);
  const reload = await gateway.admin("POST", "/config/reload");
  assert.equal(reload.status, 200, await reload.text());
  assert.equal(await statusOf(gateway.get("/v1/models/video-model")), 404);
  const task = await gateway.ended(id, 90);
  assert.equal(task.status, "succeeded", JSON.stringify(task.error));
  assert.equal(task.output.length, 1);
  await gateway.verify();
});
