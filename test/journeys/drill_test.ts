import assert from "node:assert/strict";
import { sleep } from "../../src/lib/timers.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { statusOf } from "../helpers/status_of.ts";

Deno.test("a drill is ready and sends nothing: no provider call, no webhook, no step of a task", async () => {
  await using receiver = startReceiver();
  await using gateway = await openMediaGateway({
    config: nodeConfig(""),
    cash: "10",
    settings: { isDrill: true },
  });
  assert.equal(await statusOf(gateway.fetch("/readyz")), 200);
  const { id: task } = await gateway.submit(
    "/v1/images/generations",
    { model: "image-model", prompt: "a tide", size: "64x64" },
    { prefer: "respond-async" },
  );
  const made = await gateway.post("/v1/webhook_endpoints", { url: receiver.url });
  const { id: endpoint } = await made.json();
  assert.equal(await statusOf(gateway.post(`/v1/webhook_endpoints/${endpoint}/test`, {})), 202);
  const chat = await gateway.post("/v1/chat/completions", {
    model: "talk",
    messages: [{ role: "user", content: "x" }],
  });
  assert.equal(chat.status, 503);
  assert.equal((await errorOf(chat)).code, "model_unavailable");
  assert.equal(await statusOf(gateway.admin("POST", "/providers/sim/test", {})), 503);
  const background = await gateway.post("/v1/responses", {
    model: "talk",
    input: "x",
    background: true,
  });
  const { id: response } = await background.json();

  await sleep(1_500);
  assert.equal((await gateway.task(task)).status, "queued");
  assert.equal((await (await gateway.get(`/v1/responses/${response}`)).json()).status, "queued");
  assert.equal(receiver.received.length, 0);
  const metrics = await gateway.admin("GET", "/../../metrics");
  assert.doesNotMatch(await metrics.text(), /tollgate_upstream_attempts_total\{/);
  assert.match(gateway.logged(), /drill mode/);
  await gateway.verify();
});
