import assert from "node:assert/strict";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { addCredit, adjustBalance } from "../../src/domain/ledger/credit.ts";
import { exportCsv } from "../../src/domain/ledger/export_csv.ts";
import { findReceipt, listUsage } from "../../src/domain/ledger/statement.ts";
import { quoteUsage } from "../../src/domain/pricing/quote.ts";
import { chargeUsage } from "../../src/domain/pricing/quote.ts";
import { newId } from "../../src/lib/ids.ts";
import { asking, costing, openLedger, PRICE, type TestLedger } from "../helpers/open_ledger.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const START = "2026-01-31T12:00:00Z";

Deno.test(
  "a receipt shows quantities, price and its version, held, settled, released, and sources",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "1", clock: START });
    const asked = quoteUsage({ id: "sim-chat", type: "chat" }, PRICE, {
      input_tokens: 1000,
      output_tokens: 4000,
    });
    const hold = await ledger.hold({
      id: "req_1",
      account: ledger.account,
      quote: asked,
      clientRequestId: "mine",
      origin: { key: "key_1", user: "ada", metadata: { team: "red" }, endpoint: "chat" },
      ttlSeconds: 60,
    });
    const price = {
      model: "sim-chat",
      billing_type: "token",
      input_price: "0.01",
      output_price: "0.02",
      unit: "1K tokens",
      book: "default",
      effective_at: "2026-01-01T00:00:00.000Z",
    };
    const open = {
      id: "req_1",
      object: "usage.receipt",
      request_id: "req_1",
      client_request_id: "mine",
      key: "key_1",
      user: "ada",
      metadata: { team: "red" },
      endpoint: "chat",
      model: "sim-chat",
      status: "open",
      currency: "USD",
      held: "0.09",
      settled: "0.00",
      released: "0.00",
      shortfall: "0.00",
      capped: false,
      from: { quota: 0, gift: "0.00", cash: "0.00" },
      usage: null,
      price,
      created: Date.parse(START) / 1000,
      completed: null,
    };
    assert.deepEqual(await findReceipt(ledger.sql, ledger.account, "req_1", "USD"), open);
    await ledger.setClock("2026-01-31T12:00:30Z");
    await hold.settle(
      chargeUsage(asked, { input_tokens: 1000, output_tokens: 500, estimated: true }),
    );
    assert.deepEqual(await findReceipt(ledger.sql, ledger.account, "req_1", "USD"), {
      ...open,
      status: "settled",
      settled: "0.02",
      released: "0.07",
      from: { quota: 0, gift: "0.00", cash: "0.02" },
      usage: { input_tokens: 1000, output_tokens: 500, estimated: true },
      completed: Date.parse(START) / 1000 + 30,
    });
  },
);

Deno.test("another account's receipt is not found", STRICT, async () => {
  await using ledger = await openLedger({ cash: "1" });
  const other = await ledger.newAccount("1");
  (await ledger.hold(asking({ id: "req_1", account: other, amount: "1" }))).keep();
  assert.equal(await findReceipt(ledger.sql, ledger.account, "req_1", "USD"), null);
  assert.equal(await findReceipt(ledger.sql, ledger.account, "req_none", "USD"), null);
});

/** The ids of all pages. */
async function pageThrough(
  { sql, account }: TestLedger,
  order: "asc" | "desc",
  limit: number,
): Promise<string[]> {
  const seen: string[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await listUsage(sql, { account, limit, after: seen.at(-1), order }, "USD");
    seen.push(...page.data.map(({ id }) => id));
    hasMore = page.hasMore;
  }
  return seen;
}

Deno.test(
  "usage is paged through many months, whether a page has days or a year",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    const ids: string[] = [];
    // Some days with several requests, then months without one.
    for (const day of [0, 0, 1, 2, 33, 34, 35, 36, 37, 80, 81, 200, 201, 202, 203, 400]) {
      const at = Date.parse(START) + day * 86_400_000 + ids.length;
      const id = newId("req", at);
      await ledger.setClock(new Date(at).toISOString());
      await (await ledger.hold(asking({ id, account: ledger.account, amount: "1" }))).settle(
        costing("0.5"),
      );
      ids.push(id);
    }
    for (const limit of [1, 2, 5, 100]) {
      assert.deepEqual(await pageThrough(ledger, "desc", limit), ids.toReversed());
      assert.deepEqual(await pageThrough(ledger, "asc", limit), ids);
    }
    const { sql, account } = ledger;
    const to = new Date(Date.parse(START) + 36 * 86_400_000);
    const before = await listUsage(sql, { account, limit: 3, order: "desc", to }, "USD");
    assert.deepEqual(before.data.map(({ id }) => id), ids.slice(4, 7).toReversed());
  },
);

Deno.test(
  "usage is paged both ways, also through requests with the same time",
  STRICT,
  async () => {
    await using ledger = await openLedger({ cash: "100", clock: START });
    const { sql, account } = ledger;
    const ids = Array.from({ length: 7 }, (_, at) => `req_${at}`);
    for (const id of ids) (await ledger.hold(asking({ id, account, amount: "1" }))).keep();
    assert.deepEqual(await pageThrough(ledger, "asc", 3), ids);
    assert.deepEqual(await pageThrough(ledger, "desc", 3), ids.toReversed());
    await assert.rejects(
      listUsage(sql, { account, limit: 3, after: "req_none", order: "asc" }, "USD"),
      {
        param: "after",
      },
    );
  },
);

Deno.test("usage is filtered by model and time", STRICT, async () => {
  await using ledger = await openLedger({ cash: "100", clock: START });
  const { sql, account } = ledger;
  const at = async (moment: string, id: string, model: string) => {
    await ledger.setClock(moment);
    const request = asking({ id, account, amount: "1" });
    (await ledger.hold({ ...request, quote: { ...request.quote, model } })).keep();
  };
  await at("2026-02-01T00:00:00Z", "req_1", "sim-chat");
  await at("2026-02-02T00:00:00Z", "req_2", "sim-image");
  await at("2026-02-03T00:00:00Z", "req_3", "sim-chat");
  const ids = async (filter: { model?: string; from?: Date; to?: Date }) =>
    (await listUsage(sql, { account, limit: 10, order: "asc", ...filter }, "USD")).data.map((
      { id },
    ) => id);
  assert.deepEqual(await ids({ model: "sim-chat" }), ["req_1", "req_3"]);
  assert.deepEqual(await ids({ from: new Date("2026-02-02") }), ["req_2", "req_3"]);
  assert.deepEqual(await ids({ to: new Date("2026-02-03") }), ["req_1", "req_2"]);
  assert.deepEqual(await ids({ model: "sim-chat", from: new Date("2026-02-02") }), ["req_3"]);
});

Deno.test(
  "the statement lists every movement as CSV that no spreadsheet takes for a formula",
  STRICT,
  async () => {
    await using ledger = await openLedger({ clock: START });
    const { sql, account } = ledger;
    await addCredit(sql, { account, kind: "cash", amount: "10", reference: 'invoice "7", paid' });
    await ledger.setClock("2026-02-01T00:00:00Z");
    const { id: key } = await createKey(sql, account, "batch jobs");
    const hold = await ledger.hold({
      ...asking({ id: "req_1", account, amount: "3" }),
      origin: { key, user: "=ada", metadata: { team: "red" }, endpoint: "chat" },
    });
    await hold.settle(costing("3.5", 0, { input_tokens: 7, output_tokens: 9 })); // half of it above the hold: a shortfall, which moves nothing of the account's
    await ledger.setClock("2026-02-02T00:00:00Z");
    await adjustBalance(sql, {
      account,
      amount: "-1.25",
      reference: "a1",
      reason: '=HYPERLINK("http://x")',
    });
    const lines = (await Array.fromAsync(exportCsv(sql, { account }))).join("").split("\r\n");
    const origin = `,${key},batch jobs,'=ada,"{""team"":""red""}",true,chat`;
    const unused = ",".repeat(14);
    assert.deepEqual(lines.slice(1), [
      `2026-01-31T12:00:00.000Z,"credit:${account}:invoice ""7"", paid",credit,money,10.00,cash,,"invoice ""7"", paid",,,,,,,${unused}`,
      `2026-02-01T00:00:00.000Z,req_1/1,capture,money,-3.00,cash,req_1,,,,sim-chat${origin},7,,,,,9,,,,,,`,
      `2026-02-01T00:00:00.000Z,req_1/shortfall,shortfall,money,0.00,,req_1,,,0.50,sim-chat${origin}${
        ",".repeat(12)
      }`,
      `2026-02-02T00:00:00.000Z,adjustment:${account}:a1,adjustment,money,-1.25,cash,,a1,"'=HYPERLINK(""http://x"")",,,,,,${unused}`,
      "",
    ]);
    const some = await Array.fromAsync(
      exportCsv(sql, { account, from: new Date("2026-02-01"), to: new Date("2026-02-02") }),
    );
    assert.equal(some.join("").trim().split("\r\n").length, 3);
  },
);

Deno.test("a statement of several pages misses nothing and repeats nothing", STRICT, async () => {
  await using ledger = await openLedger({ clock: START });
  const { sql, account } = ledger;
  // All of one moment: pages must be told apart by more than time.
  await sql`
    insert into transfer (id, unit, debit, credit, amount, account_id, kind, created_at)
    select 'x' || n, 'money', 'topup', 'cash:x', 1, ${account}, 'credit', ${START}::text::timestamptz
      from generate_series(1, 2500) n`;
  const text = (await Array.fromAsync(exportCsv(sql, { account }))).join("");
  const ids = text.trim().split("\r\n").slice(1).map((line) => line.split(",")[1]);
  assert.equal(ids.length, 2500);
  assert.equal(new Set(ids).size, 2500);
});
