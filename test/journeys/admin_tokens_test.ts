import assert from "node:assert/strict";
import { ADMIN_SCOPES, type AdminScope } from "../../src/domain/accounts/admin_tokens.ts";
import { FIXED_ROUTES } from "../../src/http/routes/registry.ts";
import { openConsole } from "../helpers/console_gateway.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

async function createToken(
  gateway: TestGateway,
  scopes: readonly AdminScope[],
): Promise<{ id: string; token: string }> {
  const response = await gateway.admin("POST", "/tokens", { name: scopes.join(" and "), scopes });
  assert.equal(response.status, 201);
  return await response.json();
}

function call(gateway: TestGateway, token: string, endpoint: string, body?: unknown) {
  const [method, path] = endpoint.split(" ") as [string, string];
  return gateway.fetch(path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const ADMIN_ROUTES = FIXED_ROUTES.filter(({ route }) => route.auth === "admin_token");

Deno.test("every admin endpoint admits tokens with its scope, and answers 403 to all others", async (t) => {
  await using gateway = await openGateway();
  const tokens = new Map<AdminScope, string>();
  for (const scope of ADMIN_SCOPES) tokens.set(scope, (await createToken(gateway, [scope])).token);
  assert.ok(ADMIN_ROUTES.length > 20, String(ADMIN_ROUTES.length));
  for (const { route, path } of ADMIN_ROUTES) {
    const endpoint = `${route.method} ${path}`;
    await t.step(`${endpoint}: ${route.scope}`, async () => {
      assert.ok(
        route.scope === "root" || ADMIN_SCOPES.includes(route.scope!),
        "declares its scope",
      );
      for (const [scope, token] of tokens) {
        const response = await call(gateway, token, endpoint, route.example.body);
        if (scope === route.scope) {
          await response.body?.cancel();
          assert.ok(![401, 403].includes(response.status), `${scope}: ${response.status}`);
        } else {
          assert.equal(response.status, 403, scope);
          const { code, type } = await errorOf(response);
          assert.deepEqual([code, type], ["insufficient_scope", "permission_error"]);
        }
      }
    });
  }
});

Deno.test("what changes something needs another scope than read", () => {
  for (const { route, path } of ADMIN_ROUTES) {
    assert.equal(route.scope === "read", route.method === "GET", `${route.method} ${path}`);
  }
});

Deno.test("a token is stored as its hash, shown once, and refused by every node once it is revoked", async () => {
  await using gateway = await openGateway();
  await using other = await openGateway({ beside: gateway });
  const { id, token } = await createToken(gateway, ["read"]);
  assert.equal(await statusOf(call(other, token, "GET /admin/v1/accounts")), 200);
  const [row] = await gateway.gateway.database.sql`
    select row_to_json(admin_token)::text as text from admin_token where id = ${id}`;
  assert.ok(!row!.text.includes(token.slice(4)), "not stored");
  const list = await (await gateway.admin("GET", "/tokens")).text();
  assert.ok(!list.includes(token));
  const [listed] = JSON.parse(list).data;
  assert.deepEqual([listed.scopes, listed.last4, listed.revoked], [
    ["read"],
    token.slice(-4),
    null,
  ]);
  assert.ok(listed.last_used > 0);

  assert.equal((await (await gateway.admin("DELETE", `/tokens/${id}`)).json()).id, id);
  for (const node of [gateway, other]) {
    const response = await call(node, token, "GET /admin/v1/accounts");
    assert.equal(response.status, 401);
    assert.equal((await errorOf(response)).code, "invalid_api_key");
  }
  assert.equal(await statusOf(gateway.admin("DELETE", "/tokens/adm_0")), 404);
});

Deno.test("a token without or with unknown scopes is 400", async () => {
  await using gateway = await openGateway();
  for (const scopes of [[], ["root"], ["read", "read"], undefined]) {
    const response = await gateway.admin("POST", "/tokens", { name: "x", scopes });
    assert.equal(response.status, 400, JSON.stringify(scopes));
    await response.body?.cancel();
  }
});

Deno.test("a token with the scope support sets the password of a person, but not of an operator", async () => {
  await using gateway = await openConsole();
  const { token } = await createToken(gateway, ["support"]);
  const password = "POST /admin/v1/people/ann%40example.org/password";
  assert.equal(await statusOf(call(gateway, token, password)), 200);
  await gateway.person.makeOperator();
  const response = await call(gateway, token, password);
  assert.equal(response.status, 403);
  assert.equal((await errorOf(response)).code, "insufficient_scope");
});

Deno.test("an operator creates and revokes a token in the console, and sees it once", async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  await person.makeOperator();
  const refused = await person.post("/console/operator/tokens", { name: "robot" });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /Scopes/);
  const created = await person.post("/console/operator/tokens", { name: "robot", read: "on" });
  await created.body?.cancel();
  const shown = await person.read(created.headers.get("location")!);
  const token = /adm-[\w]{43}/.exec(shown)![0];
  assert.equal(await statusOf(call(gateway, token, "GET /admin/v1/tasks")), 200);
  const page = await person.read("/console/operator/tokens");
  assert.ok(!page.includes(token));
  const id = /adm_[0-9a-z]{26}/.exec(page)![0];
  const revoked = await person.post(`/console/operator/tokens/${id}/revoke`, {});
  await revoked.body?.cancel();
  assert.equal(await statusOf(call(gateway, token, "GET /admin/v1/tasks")), 401);
});
