import assert from "node:assert/strict";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

Deno.test("401 on /admin without the operator's token, also with a client's key", async () => {
  await using gateway = await openGateway();
  for (
    const headers of [{}, { authorization: `Bearer ${gateway.key}` }] as Record<string, string>[]
  ) {
    for (const path of ["/admin/v1/accounts", "/admin/v1/nothing", "/admin/x"]) {
      const res = await gateway.fetch(path, { headers });
      assert.equal(res.status, 401, path);
      assert.equal((await errorOf(res)).type, "authentication_error");
    }
  }
});

Deno.test("an account and its key: made, used, listed, revoked", async () => {
  await using gateway = await openGateway();
  const created = await gateway.admin("POST", "/accounts", {
    name: "Ann",
    email: "Ann@example.com",
    plan: "pro",
  });
  assert.equal(created.status, 201);
  const account = await created.json();
  assert.match(account.id, /^acc_[0-9a-z]{26}$/);
  assert.equal(account.object, "account");
  assert.equal(account.plan, "pro");
  const { balance, ...found } = await (await gateway.admin("GET", `/accounts/${account.id}`))
    .json();
  assert.deepEqual(found, account);
  assert.equal(balance.object, "balance");

  const made = await gateway.admin("POST", `/accounts/${account.id}/keys`, { name: "laptop" });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("cache-control"), "no-store");
  const key = await made.json();
  assert.match(key.key, /^sk-[0-9A-Za-z]{43}$/);
  assert.equal(key.last4, key.key.slice(-4));
  const authorization = `Bearer ${key.key}`;
  assert.equal(await statusOf(gateway.get("/v1/models", { authorization })), 200);

  const listed = await (await gateway.admin("GET", `/accounts/${account.id}/keys`)).json();
  assert.equal(listed.data.length, 1);
  assert.equal(listed.data[0].key, undefined, "a key is shown once");

  const [row] = await gateway.gateway.database.sql`select * from api_key where id = ${key.id}`;
  assert.ok(!JSON.stringify(row).includes(key.key), "a key is stored as a hash");

  assert.equal(await statusOf(gateway.admin("DELETE", `/keys/${key.id}`)), 200);
  const refused = await gateway.get("/v1/models", { authorization });
  assert.equal(refused.status, 401, "the very next request");
  assert.equal((await errorOf(refused)).code, "invalid_api_key");
  assert.equal(
    await statusOf(gateway.admin("DELETE", `/keys/${key.id}`)),
    200,
    "revoking again is harmless",
  );
});

Deno.test("accounts are listed in pages, newest first", async () => {
  await using gateway = await openGateway();
  for (let i = 0; i < 5; i++) await gateway.newKey({ name: `a${i}` });
  const first = await (await gateway.admin("GET", "/accounts?limit=4")).json();
  assert.equal(first.object, "list");
  assert.deepEqual(first.data.map(({ name }: { name: string }) => name), ["a4", "a3", "a2", "a1"]);
  assert.equal(first.has_more, true);
  assert.equal(first.last_id, first.data[3].id);
  const next = await (await gateway.admin("GET", `/accounts?limit=4&after=${first.last_id}`))
    .json();
  assert.deepEqual(next.data.map(({ name }: { name: string }) => name), ["a0", "tester"]);
  assert.equal(next.has_more, false);
  const oldest = await (await gateway.admin("GET", "/accounts?order=asc&limit=1")).json();
  assert.equal(oldest.data[0].name, "tester");
});

Deno.test("400 names what is wrong with a body or a query", async () => {
  await using gateway = await openGateway();
  await gateway.newKey({ name: "taken", email: "taken@example.com" });
  const deep = "[".repeat(20) + "]".repeat(20);
  const cases: [
    method: string,
    path: string,
    body: string | undefined,
    type: string,
    status: number,
    code: string,
    param: string | null,
  ][] = [
    ["POST", "/accounts", "{", "application/json", 400, "invalid_json", null],
    ["POST", "/accounts", "", "application/json", 400, "invalid_json", null],
    ["POST", "/accounts", '{"name":"\xff"}', "application/json", 201, "", null],
    ["POST", "/accounts", deep, "application/json", 400, "invalid_json", null],
    ["POST", "/accounts", "[]", "application/json", 400, "invalid_value", null],
    ["POST", "/accounts", "{}", "application/json", 400, "missing_field", "name"],
    ["POST", "/accounts", '{"name":""}', "application/json", 400, "invalid_value", "name"],
    [
      "POST",
      "/accounts",
      '{"name":"x","nmae":1}',
      "application/json",
      400,
      "unknown_field",
      "nmae",
    ],
    [
      "POST",
      "/accounts",
      '{"name":"x","plan":"gold"}',
      "application/json",
      400,
      "invalid_value",
      "plan",
    ],
    [
      "POST",
      "/accounts",
      '{"name":"x","price_book":"gold"}',
      "application/json",
      400,
      "invalid_value",
      "price_book",
    ],
    [
      "POST",
      "/accounts",
      '{"name":"x","email":"no"}',
      "application/json",
      400,
      "invalid_value",
      "email",
    ],
    [
      "POST",
      "/accounts",
      '{"name":"x","email":"TAKEN@example.com"}',
      "application/json",
      400,
      "invalid_value",
      "email",
    ],
    [
      "POST",
      "/accounts",
      "name=x",
      "application/x-www-form-urlencoded",
      415,
      "unsupported_media_type",
      null,
    ],
    [
      "POST",
      "/accounts",
      `{"name":"${"x".repeat(70_000)}"}`,
      "application/json",
      413,
      "payload_too_large",
      null,
    ],
    [
      "POST",
      "/accounts/acc_missing/keys",
      '{"name":"x"}',
      "application/json",
      404,
      "not_found",
      null,
    ],
    // Browser authorization would take it for its own key.
    [
      "POST",
      "/accounts/acc_missing/keys",
      '{"name":"BA:cli"}',
      "application/json",
      400,
      "invalid_value",
      "name",
    ],
    ["GET", "/accounts/acc_missing", undefined, "", 404, "not_found", null],
    ["GET", "/accounts?limit=0", undefined, "", 400, "invalid_value", "limit"],
    ["GET", "/accounts?limit=1e2", undefined, "", 400, "invalid_value", "limit"],
    ["GET", "/accounts?order=up", undefined, "", 400, "invalid_value", "order"],
    ["GET", "/accounts?after='", undefined, "", 400, "invalid_value", "after"],
    ["DELETE", "/keys/key_missing", undefined, "", 404, "not_found", null],
    ["PATCH", "/accounts", "{}", "application/json", 405, "method_not_allowed", null],
  ];
  for (const [method, path, body, type, status, code, param] of cases) {
    const res = await gateway.fetch(`/admin/v1${path}`, {
      method,
      headers: {
        authorization: "Bearer test-admin-token-0123456789",
        ...(type === "" ? {} : { "content-type": type }),
      },
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(res.status, status, `${method} ${path} ${body?.slice(0, 60)}`);
    if (status < 300) {
      await res.body?.cancel();
      continue;
    }
    const error = await errorOf(res);
    assert.equal(error.code, code, `${method} ${path} ${body?.slice(0, 60)}`);
    assert.equal(error.param, param, `${method} ${path} ${body?.slice(0, 60)}`);
  }
});
