import assert from "node:assert/strict";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { type ChatGateway, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { openConsole } from "../helpers/console_gateway.ts";
import { asking, costing } from "../helpers/open_ledger.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const options = { sanitizeOps: true, sanitizeResources: true };

/** An upstream that reports far more tokens than the request allowed. */
function serveUpstream(): AsyncDisposable & { address: string } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    return Response.json({
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Yes." },
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: 1000, completion_tokens: 9000, total_tokens: 10_000 },
    });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/v1`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const configFor = (address: string) => `
limits: { default: { requests_per_minute: 50 } }
plans: { free: {} }
providers: { own: { adapter: openai_compatible, base_url: "${address}" } }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    limits: { max_output_tokens: 100 }
    upstreams: [{ provider: own, model: m }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: talk, billing_type: token, input_price: "0.01", output_price: "0.01", unit: 1K tokens }]
`;

/** Costs 0.10 by the upstream's count; the account has a tenth of that, which covers the hold. */
async function fallShort(gateway: ChatGateway) {
  await gateway.credit("0.01");
  const response = await gateway.chat("talk", "Hello", { max_tokens: 10 });
  assert.equal(response.status, 200, await response.clone().text());
  await response.body?.cancel();
  return await gateway.receipt(response);
}

/** The requests a minute that a node allows a key. */
async function limitOf(gateway: TestGateway, key: string): Promise<string | null> {
  const response = await gateway.get("/v1/models", { authorization: `Bearer ${key}` });
  await response.body?.cancel();
  return response.headers.get("x-ratelimit-limit");
}

Deno.test("an account that repeatedly falls short is slowed on every node", options, async () => {
  await using upstream = serveUpstream();
  const written = configFor(upstream.address);
  await using gateway = await openChatGateway({ cash: "0", config: written });
  // The embedded database has one node.
  await using second = gateway.store.databaseUrl === undefined
    ? null
    : await openGateway({ beside: gateway, config: written });
  if (second !== null) assert.equal(await limitOf(second, gateway.key), "50");
  const receipt = await fallShort(gateway);
  assert.deepEqual([receipt.settled, receipt.shortfall], ["0.01", "0.09"]);
  assert.match(gateway.logged(), /"settlement exceeded hold".*"due":"0\.10"/);
  await fallShort(gateway);
  assert.equal(await limitOf(gateway, gateway.key), "50", "twice is no habit yet");

  await fallShort(gateway);
  await until(
    "the account is slowed",
    async () => await limitOf(gateway, gateway.key) === "5",
  );
  if (second !== null) {
    const limit = await limitOf(second, gateway.key);
    assert.equal(limit, "5", "also where the key was known before");
  }
  let refused: Response | undefined;
  for (let i = 0; i < 6 && refused === undefined; i++) {
    const response = await gateway.get("/v1/balance");
    if (response.status === 429) refused = response;
    else await response.body?.cancel();
  }
  const error = await errorOf(refused!);
  assert.equal(error.code, "rate_limit_exceeded");
  assert.match(error.message, /cost more than its balance/);
  assert.ok(Number(refused!.headers.get("retry-after")) > 0);

  const other = await gateway.newKey();
  assert.equal(await limitOf(gateway, other.key), "50", "other accounts are not");

  const metrics = await (await gateway.fetch("/metrics", {
    headers: { authorization: `Bearer ${gateway.gateway.adminToken}` },
  })).text();
  assert.match(metrics, /^tollgate_settlements_beyond_hold_total 3$/m);
  assert.match(metrics, /^tollgate_shortfalls_total 3$/m);
  await gateway.verify();
});

Deno.test("a slowed account is as quick as before when its hour is over", options, async () => {
  await using upstream = serveUpstream();
  await using gateway = await openChatGateway({
    cash: "0",
    config: configFor(upstream.address),
  });
  const { sql } = gateway.gateway.database;
  await sql`
    update account set slowed_until = now() + interval '1 hour' where id = ${gateway.account}`;
  assert.equal(await limitOf(gateway, gateway.key), "5");
  const { key, account } = await gateway.newKey();
  await sql`update account set slowed_until = now() - interval '1 second' where id = ${account}`;
  assert.equal(await limitOf(gateway, key), "50");
});

Deno.test(
  "a receipt names what was taken beyond the hold and what was not paid",
  options,
  async () => {
    await using gateway = await openConsole({ cash: "2" });
    const { person } = gateway;
    const ledger = openLedger({
      database: gateway.gateway.database,
      money: () => ({ currency: "USD", currencyScale: 6 }),
      onExceeded() {},
      onOrphanedHold() {},
    });
    const request = asking({ id: "req_beyond", account: person.account, amount: "0.5" });
    await (await ledger.hold({ ...request, beyondHold: true })).settle(costing("3.25"));
    const page = await person.read("/console/billing/receipts/req_beyond");
    assert.match(page, /Charged<\/dt><dd[^>]*><span[^>]*>\$2\.00</);
    assert.match(page, /Not covered by balance<\/dt><dd[^>]*><span[^>]*>\$1\.25</);
    await gateway.verify();
  },
);
