import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { nodeConfig } from "../helpers/node_config.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

Deno.test("/metrics has tokens, money, first byte and attempts of chats, breakers and the last reload, and no model that a client invents", async () => {
  await using gateway = await openMediaGateway({ config: nodeConfig(""), cash: "10" });
  const chat = (model: string, stream: boolean) =>
    gateway.post("/v1/chat/completions", {
      ...{ model, stream, messages: [{ role: "user", content: "Hello" }] },
    });
  const whole = await (await chat("talk", false)).json();
  await (await chat("talk", true)).text();
  assert.equal(await statusOf(chat("invented", false)), 404);
  let text = "";
  const value = (series: string) =>
    Number(text.split("\n").find((line) => line.startsWith(`${series} `))?.split(" ")[1]);
  await until("both chats are counted", async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    text = await (await gateway.fetch("/metrics", { headers })).text();
    return value('tollgate_upstream_seconds_count{provider="sim",outcome="ok"}') === 2;
  });
  const output = 'tollgate_model_tokens_total{model="talk",kind="output"}';
  assert.equal(value(output), 2 * whole.usage.completion_tokens);
  const { available } = await gateway.balance();
  const spent = 10 - Number(available);
  assert.ok(Math.abs(value('tollgate_model_charges_total{model="talk"}') - spent) < 1e-6);
  assert.equal(value('tollgate_model_first_byte_seconds_count{model="talk"}'), 1);
  assert.equal(value('tollgate_upstream_breaker_open{provider="sim",model="chat"}'), 0);
  assert.equal(value("tollgate_config_reload_ok"), 1);
  assert.ok(!text.includes("invented"));

  await Deno.writeTextFile(gateway.configFile, "models: 3");
  assert.equal(await statusOf(gateway.admin("POST", "/config/reload")), 400);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  text = await (await gateway.fetch("/metrics", { headers })).text();
  assert.equal(value("tollgate_config_reload_ok"), 0);
});
