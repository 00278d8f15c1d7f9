import assert from "node:assert/strict";
import { chooseModel, readService } from "./gateway_api.ts";

const MODELS = [
  { id: "image", type: "image", capabilities: ["text_to_image"] },
  { id: "plain", type: "chat", capabilities: ["chat", "streaming"] },
  { id: "talk", type: "chat", capabilities: ["chat", "streaming", "tools"] },
  { id: "think", type: "chat", capabilities: ["chat", "streaming", "tools", "reasoning"] },
];

Deno.test("the model is the wanted one, or the first that coding agents can use", () => {
  assert.equal(chooseModel(MODELS, undefined), "talk");
  assert.equal(chooseModel(MODELS, "think"), "think");
  assert.throws(() => chooseModel(MODELS, "plain"), /run this again with one of talk, think/);
  assert.throws(() => chooseModel(MODELS.slice(0, 2), undefined), /no chat model with tools/);
});

Deno.test("the API is at the configured URL, or beside the site", async () => {
  const cases = [["/", null], ["https://api.acme.example", "https://api.acme.example/v1"], [
    "https://acme.example/ai",
    "https://acme.example/ai/v1",
  ]] as const;
  for (const [url, expected] of cases) {
    const document = { info: { title: "Acme" }, servers: [{ url }] };
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => Response.json(document),
    );
    const site = `http://127.0.0.1:${server.addr.port}`;
    const { service, baseUrl } = await readService(site);
    assert.deepEqual([service, baseUrl], ["Acme", expected ?? `${site}/v1`]);
  }
  await assert.rejects(readService("http://127.0.0.1:9"), /cannot be reached/);
});
