import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Two chats of two users, and what both were charged. */
async function twoChats(gateway: ChatGateway): Promise<string[]> {
  const charged: string[] = [];
  for (const [user, team] of [["ada", "red"], ["=bob", "blue"]]) {
    const res = await gateway.chat("talk", "Hello", { user, metadata: { team } });
    assert.equal(res.status, 200, await res.clone().text());
    await res.body?.cancel();
    charged.push((await gateway.receipt(res)).settled);
  }
  return charged;
}

const linesOf = (csv: string) => csv.trim().split("\r\n").map((line) => line.split(","));

Deno.test("GET /v1/usage?group_by= sums up the account's own usage", STRICT, async () => {
  await using gateway = await openChatGateway();
  const [first, second] = await twoChats(gateway);
  const report = async (query: string): Promise<Json> => {
    const res = await gateway.get(`/v1/usage?${query}`);
    assert.equal(res.status, 200, await res.clone().text());
    return await res.json();
  };
  const byUser = await report("group_by=user,endpoint,metadata.team");
  assert.deepEqual(
    byUser.data.map((usage: Json) => [
      usage.user,
      usage.endpoint,
      usage["metadata.team"],
      usage.charged,
    ]),
    [["=bob", "chat", "blue", second], ["ada", "chat", "red", first]],
  );
  assert.ok(byUser.totals.input_tokens > 0 && byUser.totals.output_tokens > 0);
  assert.equal((await report("group_by=key")).data[0].requests, 2);
  const all = await report("group_by=key,model,user,endpoint,day,metadata.team");
  assert.deepEqual(
    all.data.map((row: Json) => row.user).sort(),
    byUser.data.map((row: Json) => row.user).sort(),
  );
  assert.equal((await report("group_by=model&metadata.team=red")).totals.charged, first);
  assert.equal((await report("group_by=model&user=eve")).data.length, 0);
  // Another account sees none of it, whatever it asks for.
  const other = await gateway.newKey({ name: "other" });
  const res = await gateway.get(`/v1/usage?group_by=user&account=${gateway.account}`, {
    authorization: `Bearer ${other.key}`,
  });
  assert.deepEqual((await res.json()).data, []);
});

Deno.test(
  "sums and statements as CSV have every column, and cost for operators only",
  STRICT,
  async () => {
    await using gateway = await openChatGateway();
    const [first] = await twoChats(gateway);
    const res = await gateway.get("/v1/usage?group_by=user", { accept: "text/csv" });
    assert.match(res.headers.get("content-type")!, /^text\/csv/);
    const [head, bob, ada] = linesOf(await res.text()) as [string[], string[], string[]];
    assert.equal(
      head.join(),
      "user,requests,failed,charged,gift,quota,shortfall,input_tokens,cached_input_tokens,cache_write_tokens," +
        "cache_write_1h_tokens,audio_input_tokens,output_tokens,reasoning_tokens,audio_output_tokens,web_searches," +
        "images,seconds,characters",
    );
    assert.equal(bob[0], "'=bob"); // not a formula
    assert.deepEqual([ada[0], ada[3]], ["ada", first]);

    const own = await (await gateway.get("/v1/usage?format=csv")).text();
    const operators = await (await gateway.admin("GET", `/accounts/${gateway.account}/statement`))
      .text();
    const [columns, , line] = linesOf(own) as [string[], string[], string[]];
    assert.ok(!columns.includes("cost") && !columns.includes("upstream"));
    const at = (name: string) => line[columns.indexOf(name)];
    assert.deepEqual([at("model"), at("user"), at("endpoint")], ["talk", "ada", "chat"]);
    assert.ok(Number(at("input_tokens")) > 0 && Number(at("output_tokens")) > 0, own);
    assert.ok(linesOf(operators)[0]!.join().endsWith(",upstream,cost"), operators);
  },
);

Deno.test("GET /admin/v1/usage sums up all accounts, with cost", STRICT, async () => {
  await using gateway = await openChatGateway();
  const [first, second] = await twoChats(gateway);
  const report = async (query: string): Promise<Json> =>
    await (await gateway.admin("GET", `/usage?${query}`)).json();
  const { data, totals } = await report("");
  assert.deepEqual(data.map((usage: Json) => [usage.account, usage.requests]), [
    [gateway.account, 2],
  ]);
  assert.equal(typeof data[0].account_name, "string");
  assert.ok("cost" in totals && "uncosted" in totals);
  assert.equal((await report("group_by=day&user=ada")).totals.charged, first);
  assert.equal((await report("group_by=day&user=%3Dbob")).totals.charged, second);
  assert.equal((await report("group_by=day&account=acct_none")).data.length, 0);
  const csv = await (await gateway.admin("GET", "/usage?format=csv")).text();
  assert.match(csv, /^account,account_name,requests,.*,cost,uncosted\r\n/);
});

Deno.test("a report that cannot be is refused with the reason", STRICT, async () => {
  await using gateway = await openChatGateway();
  const refusal = async (query: string) => {
    const res = await gateway.get(`/v1/usage?${query}`);
    assert.equal(res.status, 400, query);
    const { code, param, message } = (await errorOf(res)) as Json;
    assert.equal(code, "invalid_value");
    return `${param}: ${message}`;
  };
  const many = "key,model,user,day,endpoint,metadata.a,metadata.b";
  for (const groups of ["", "account", "model,model", "metadata.", many]) {
    assert.match(await refusal(`group_by=${groups}`), /^group_by: .* up to 6 different names/);
  }
  assert.match(await refusal("user=ada"), /^user: user filters sums: send it with group_by/);
  assert.match(await refusal("group_by=day&format=xml"), /^format: .* json, csv/);
  assert.match(await refusal("group_by=day&from=yesterday"), /^from: /);
});
