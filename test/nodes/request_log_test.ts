import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openGateway } from "../helpers/open_gateway.ts";

Deno.test("a request of one node is found on another within a second", async () => {
  await using first = await openGateway();
  await using second = await openGateway({ beside: first });
  const res = await first.get("/v1/models");
  await res.body?.cancel();
  const find = () => second.get(`/v1/requests/${res.headers.get("x-request-id")}`);
  await until("the other node finds it", async () => {
    const found = await find();
    await found.body?.cancel();
    return found.status === 200;
  }, 2);
  assert.equal((await (await find()).json()).endpoint, "list_models");
});
