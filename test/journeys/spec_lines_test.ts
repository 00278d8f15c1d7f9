import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
const SHIPPED = await Deno.readTextFile(new URL("../../gateway.yaml", import.meta.url));

Deno.test("every model that is listed can be retrieved, and its logo is an image", async () => {
  await using gateway = await openGateway({ config: SHIPPED });
  for (const status of ["available", "preview", "deprecated", "unavailable"]) {
    const { data } = await (await gateway.get(`/v1/models?status=${status}`)).json();
    for (const { id, logo } of data) {
      const detail = await gateway.get(`/v1/models/${id}`);
      assert.equal(detail.status, 200, id);
      assert.equal((await detail.json()).logo, logo);
      assert.ok(logo.startsWith(gateway.address), logo);
      const image = await fetch(logo);
      assert.equal(image.status, 200);
      assert.equal(image.headers.get("content-type"), "image/svg+xml; charset=utf-8");
      assert.match(await image.text(), /^<svg .*<\/svg>\n$/);
    }
  }
});

Deno.test("a logo has nothing of its address but letters, and does not tell which models exist", async () => {
  await using gateway = await openChatGateway();
  const hostile = await gateway.fetch(`/logos/${encodeURIComponent("<script>x</script>")}.svg`);
  assert.ok(!(await hostile.text()).includes("script"));
  const absent = await gateway.fetch("/logos/no-such-model.svg");
  assert.equal(absent.status, 200);
  await absent.body?.cancel();
});

Deno.test("logo is as configured, and URLs are beside service.base_url", async () => {
  const logo = "https://images.example/talk.png";
  const config = CONFIG.replace("      name: Talk,", `      name: Talk,\n      logo: "${logo}",`) +
    "\nservice: { base_url: https://api.example.com/v1 }\n";
  await using gateway = await openChatGateway({ config });
  assert.equal((await (await gateway.get("/v1/models/talk")).json()).logo, logo);
  const { logo: own } = await (await gateway.get("/v1/models/think")).json();
  assert.equal(own, "https://api.example.com/logos/think.svg");
});

Deno.test("plan.name of the balance is the name that is configured", async () => {
  const config = CONFIG.replace("  free: {}", "  free: { name: Starter }");
  await using gateway = await openChatGateway({ config });
  const { plan } = await (await gateway.get("/v1/balance")).json();
  assert.deepEqual(plan, { name: "Starter", expires_at: null });
  const account = await (await gateway.admin("GET", `/accounts/${gateway.account}`)).json();
  assert.deepEqual([account.plan, account.balance.plan.name], ["free", "Starter"]);
});

Deno.test("400 for a filter that is sent twice; lists may be", async () => {
  await using gateway = await openChatGateway();
  for (
    const path of [
      "/v1/models?type=chat&type=image",
      "/v1/tasks?status=queued&limit=1&status=failed",
    ]
  ) {
    const error = await errorOf(await gateway.get(path));
    assert.equal(error.code, "invalid_value");
    assert.equal(error.param, path.includes("type") ? "type" : "status");
  }
  const lists = await gateway.get("/v1/responses/resp_x?include=a&include=b");
  assert.equal((await errorOf(lists)).code, "response_not_found");
});

Deno.test("rate-limit headers and x-request-id are on every response to a known key, errors too", async () => {
  await using gateway = await openChatGateway();
  const authorization = `Bearer ${gateway.key}`;
  const requests: readonly [
    method: string,
    path: string,
    headers: Record<string, string>,
    status: number,
  ][] = [
    ["GET", "/v1/models", {}, 200],
    ["GET", "/v1/nope", {}, 404],
    ["PATCH", "/v1/models", {}, 405],
    ["POST", "/v1/chat/completions", {}, 415],
    ["GET", "/v1/models", { "x-client-request-id": "two words" }, 400],
    ["GET", "/v1/models?type=a&type=b", {}, 400],
    ["GET", "/v1/files/file_x/content", {}, 404],
  ];
  for (const [method, path, headers, status] of requests) {
    const res = await gateway.fetch(path, { method, headers: { authorization, ...headers } });
    await res.body?.cancel();
    assert.equal(res.status, status, `${method} ${path}`);
    for (
      const name of [
        "x-request-id",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
      ]
    ) {
      assert.ok(res.headers.has(name), `${method} ${path} has no ${name}`);
    }
  }
  const stranger = await gateway.fetch("/v1/models", { headers: { authorization: "Bearer x" } });
  await stranger.body?.cancel();
  assert.deepEqual([stranger.status, stranger.headers.has("x-request-id")], [401, true]);
});
