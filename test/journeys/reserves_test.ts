import assert from "node:assert/strict";
import { eventsOf, openChatGateway, until } from "../helpers/chat_gateway.ts";

// The embedded database holds every request on its own.
const ignore = Deno.env.get("TEST_STORE") === "embedded";

Deno.test({
  name:
    "chats of a busy account need no hold, a long stream gets one, and an idle reserve is returned",
  ignore,
  async fn() {
    await using gateway = await openChatGateway({ cash: "1000" });
    const { sql } = gateway.gateway.database;
    const count = async (table: string) => (await sql`select from ${sql(table)}`).length;
    await until("the account has a reserve", async () => {
      const res = await gateway.chat("talk", "Hello");
      assert.equal(res.status, 200, await res.text());
      return await count("reserve") === 1;
    });
    const before = await gateway.balance();
    assert.equal(before.frozen, "0.00", "what is only reserved is available");

    const slow = gateway.chat("talk", "Go [[simulate: latency=500ms tokens=5]]");
    await new Promise((resume) => setTimeout(resume, 250));
    assert.equal(await count("hold"), 0, "the upstream is called without a statement");
    const answered = await slow;
    assert.equal(answered.status, 200, await answered.text());
    const { status, settled, held } = await gateway.receipt(answered);
    assert.equal(status, "settled");
    assert.ok(Number(settled) > 0 && Number(held) > Number(settled));

    const stream = await gateway.chat("talk", "Go [[simulate: pace=200ms tokens=25]]", {
      stream: true,
    });
    const events = eventsOf(stream);
    await until("the stream has a hold", async () => await count("hold") === 1, 5);
    assert.equal((await events).at(-1), "[DONE]");
    assert.equal((await gateway.receipt(stream)).status, "settled");
    assert.equal(await count("hold"), 0);

    await until("the reserve is returned", async () => await count("reserve") === 0, 5);
    await gateway.verify();
  },
});

Deno.test({
  name: "a client that disconnects while its money is only reserved is logged as disconnected",
  ignore,
  async fn() {
    await using gateway = await openChatGateway({ cash: "10" });
    const { account } = gateway;
    const { sql } = gateway.gateway.database;
    // A node that does not answer has all of it.
    await sql`
      insert into reserve (id, account_id, node_id, renewal, allocations, held, drawn, lease_ms, expires_at)
      values ('rsv_dead', ${account}, 'node_dead', 1, array['cash:' || ${account}], array[10], array[0], 60000,
              now() + interval '1 minute')`;
    await sql`update balance_bucket set frozen = 10 where account_id = ${account}`;
    const client = new AbortController();
    const asked = gateway.chat("talk", "Hello", {}, { signal: client.signal });
    await until("it waits", async () => {
      const rows = await sql`select from reserve where recalled_at is not null`;
      return rows.length === 1;
    });
    client.abort();
    await assert.rejects(asked);
    await until("it is logged", async () => {
      const rows = await sql`select from request where error_code = 'client_disconnected'`;
      return rows.length === 1;
    });
  },
});

Deno.test({
  name: "a correction of an operator takes what nodes have only reserved",
  ignore,
  async fn() {
    await using gateway = await openChatGateway({ cash: "1000" });
    const { sql } = gateway.gateway.database;
    await until("the account has a reserve", async () => {
      const res = await gateway.chat("talk", "Hello");
      assert.equal(res.status, 200, await res.text());
      return (await sql`select from reserve`).length === 1;
    });
    const { available } = await gateway.balance();
    const correct = async (amount: string) => {
      const body = { kind: "correction", amount, reference: amount, reason: "wrong account" };
      const res = await gateway.admin("POST", `/accounts/${gateway.account}/credits`, body);
      await res.body?.cancel();
      return res.status;
    };
    assert.equal(await correct("-1001"), 402, "more than there is");
    assert.equal(await correct(`-${available}`), 201);
    assert.equal((await gateway.balance()).available, "0.00");
    await gateway.verify();
  },
});
