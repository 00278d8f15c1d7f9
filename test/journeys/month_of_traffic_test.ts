import assert from "node:assert/strict";
import { rollUpUsage } from "../../src/domain/ledger/usage_days.ts";
import {
  amountOf,
  type Book,
  type Customer,
  live,
  MONTH,
  type Month,
  openMonth,
  TRILLION,
  written,
} from "../helpers/month_of_traffic.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";

/** The lines that the report must have, as its CSV writes them. */
function expectedCsv({ lines }: Book): string[] {
  return [...lines].map(([key, line]) => {
    const { uncosted, revenue, cost, uncosted_revenue } = line;
    const isKnown = uncosted === 0;
    const costed = revenue - uncosted_revenue;
    const tenths = costed > 0n ? (costed - cost) * 1000n / costed : null;
    return [
      key,
      ...[line.requests, line.failed, written(revenue), written(line.gift), line.quota],
      ...[written(line.shortfall), line.capped, isKnown ? written(cost) : "unknown", uncosted],
      ...[written(uncosted_revenue), isKnown ? written(costed - cost) : "unknown"],
      isKnown && tenths !== null ? `${tenths / 10n}.${String(tenths % 10n).replace("-", "")}` : "",
    ].join();
  }).sort();
}

/** What an account paid by model, and what it could not pay, from its statement. */
async function statementOf({ gateway }: Month, { id }: Customer): Promise<Record<string, bigint>> {
  const res = await gateway.admin("GET", `/accounts/${id}/statement?from=2026-03-01&to=2026-04-01`);
  const [head, ...lines] = (await res.text()).trim().split("\r\n").map((line) => line.split(","));
  const sums: Record<string, bigint> = {};
  for (const line of lines) {
    const field = (name: string) => line[head!.indexOf(name)]!;
    if (field("kind") === "shortfall") {
      sums.shortfall = (sums.shortfall ?? 0n) + amountOf(field("shortfall"));
    }
    if (field("kind") !== "capture") continue;
    const name = field("unit") === "money" ? field("model") : `quota of ${field("model")}`;
    sums[name] = (sums[name] ?? 0n) - amountOf(field("amount"));
  }
  return sums;
}

function expectedStatement({ lines }: Book, { id }: Customer): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  const add = (name: string, amount: bigint) => {
    if (amount !== 0n) sums[name] = (sums[name] ?? 0n) + amount;
  };
  for (const [key, line] of lines) {
    const [, model, , account] = key.split(",");
    if (account !== id) continue;
    add(model!, line.revenue);
    add(`quota of ${model}`, line.quota * TRILLION);
    add("shortfall", line.shortfall);
  }
  return sums;
}

async function reconcile({ gateway }: Month, provider: string, invoice: string) {
  const file = await Deno.makeTempFile({ suffix: ".csv" });
  await Deno.writeTextFile(file, invoice);
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", "src/cli/main.ts", "reconcile", file, "--json"],
      ...["--provider", provider, "--month", MONTH, "--tolerance", "0"],
    ],
    cwd: new URL("../../", import.meta.url).pathname,
    env: { GATEWAY_URL: gateway.address, ADMIN_TOKEN },
  }).output();
  await Deno.remove(file);
  return { code, ...JSON.parse(new TextDecoder().decode(stdout)) };
}

Deno.test("a month of traffic: margins, CSV, statements, invoices and the ledger agree with a calculation of its own", async () => {
  await using month = await openMonth();
  const { gateway, sql, traffic: { book } } = month;
  await live(month);
  assert.ok(book.lines.size > 12 && month.planned.quota === 0n, "every kind of request is there");

  const csvOf = async () => {
    const res = await gateway.admin("GET", `/margins?month=${MONTH}&format=csv`);
    return (await res.text()).trim().split("\r\n").slice(1).sort();
  };
  assert.deepEqual(await csvOf(), expectedCsv(book), "before usage is summed");
  await month.setClock("2026-04-02T00:00:00Z");
  await rollUpUsage(sql);
  assert.deepEqual(await csvOf(), expectedCsv(book), "and after");

  const { data, totals } = await (await gateway.admin("GET", `/margins?month=${MONTH}`)).json();
  const all = [...book.lines.values()];
  const sum = (amounts: bigint[]) => written(amounts.reduce((sum, amount) => sum + amount, 0n));
  assert.equal(data.length, book.lines.size);
  assert.equal(totals.revenue, sum(all.map(({ revenue }) => revenue)));
  assert.equal(totals.cost, sum(all.map(({ cost }) => cost)));
  assert.equal(
    totals.margin,
    sum(all.map(({ revenue, cost, uncosted_revenue }) => revenue - uncosted_revenue - cost)),
  );

  for (const customer of [month.rich, month.planned, month.gifted, month.poor]) {
    assert.deepEqual(await statementOf(month, customer), expectedStatement(book, customer));
    const { balance } = await (await gateway.admin("GET", `/accounts/${customer.id}`)).json();
    assert.equal(balance.available_balance, written(customer.cash + customer.gift));
  }

  const lines = [...book.invoice].map(([model, cost]) => `${model},${written(cost)}`);
  const billedBy = (
    provider: string,
  ) => [
    "model,amount",
    ...lines.filter((line) => line.startsWith(provider === "open" ? "gpt" : "claude")),
  ];
  const other = await reconcile(month, "other", billedBy("other").join("\n"));
  assert.deepEqual([other.code, other.ok, other.difference], [0, true, "0.00"]);
  const open = await reconcile(month, "open", billedBy("open").join("\n"));
  assert.deepEqual(
    [
      open.code,
      ...open.lines.map(({ model, status }: Record<string, string>) => `${model} ${status}`),
    ],
    [1, "gpt-image equal", "gpt-large equal", "gpt-unknown cost_unknown"],
  );

  await gateway.verify();
});
