import assert from "node:assert/strict";
import type { Json } from "../helpers/chat_gateway.ts";
import { type Entry, live, MONTH, openMonth, written } from "../helpers/month_of_traffic.ts";

/** The value of a group of a request, as a report shows it. */
function valueOf(entry: Entry, group: string): string | null {
  return group === "metadata.team" ? entry.team : entry[group as keyof Entry] as string | null;
}

/** What a report by these groups must say, from what the test has written down about each request. */
function expected(entries: readonly Entry[], groups: readonly string[], isForOperator: boolean) {
  const byGroup = Map.groupBy(
    entries,
    (entry) => JSON.stringify(groups.map((group) => valueOf(entry, group))),
  );
  return Object.fromEntries([...byGroup].map(([name, same]) => [name, sums(same, isForOperator)]));
}

function sums(entries: readonly Entry[], isForOperator: boolean) {
  const amount = (of: (entry: Entry) => bigint) =>
    written(entries.reduce((sum, entry) => sum + of(entry), 0n));
  const count = (of: (entry: Entry) => number) =>
    entries.reduce((sum, entry) => sum + of(entry), 0);
  return {
    requests: count(({ isFailed }) => isFailed ? 0 : 1),
    failed: count(({ isFailed }) => isFailed ? 1 : 0),
    charged: amount(({ charged }) => charged),
    gift: amount(({ gift }) => gift),
    quota: count(({ quota }) => Number(quota)),
    shortfall: amount(({ shortfall }) => shortfall),
    input_tokens: count(({ tokens }) => tokens.input),
    cached_input_tokens: count(({ tokens }) => tokens.cached),
    cache_write_tokens: count(({ tokens }) => tokens.written),
    output_tokens: count(({ tokens }) => tokens.output),
    images: count(({ images }) => images),
    ...(isForOperator
      ? {
        cost: amount(({ cost }) => cost ?? 0n),
        uncosted: count(({ isFailed, cost }) => !isFailed && cost === null ? 1 : 0),
      }
      : {}),
  };
}

const NAMES = Object.keys(sums([], true));

/** The same of what the gateway answers. */
const shown = (usage: Json) =>
  Object.fromEntries(NAMES.filter((name) => name in usage).map((name) => [name, usage[name]]));

const GROUPS = ["key", "model", "user", "metadata.team", "day", "endpoint"];
/** Each alone, each pair, and all that fit into one report. */
const GROUPINGS = [
  ...GROUPS.map((group) => [group]),
  ...GROUPS.flatMap((group, at) => GROUPS.slice(at + 1).map((other) => [group, other])),
  GROUPS.slice(0, 4),
  GROUPS.slice(2),
];

Deno.test("a month of traffic: usage by every grouping adds up to the ledger to the last digit", async () => {
  await using month = await openMonth();
  const { gateway, sql, traffic: { book } } = month;
  await live(month);
  await month.setClock("2026-04-02T00:00:00Z");
  const period = `from=${MONTH}-01&to=2026-04-01`;

  const check = async (
    path: string,
    of: { groups: string[]; entries: Entry[]; key?: string },
  ): Promise<Json> => {
    const { groups, entries, key } = of;
    const url = `${path}?group_by=${groups}&${period}`;
    const res = key === undefined
      ? await gateway.admin("GET", url)
      : await gateway.get(url, { authorization: `Bearer ${key}` });
    assert.equal(res.status, 200, await res.clone().text());
    const { data, totals } = await res.json();
    const found = Object.fromEntries(
      data.map((usage: Json) => [JSON.stringify(groups.map((name) => usage[name])), shown(usage)]),
    );
    assert.equal(data.length, Object.keys(found).length, `each group of ${groups} once`);
    assert.deepEqual(found, expected(entries, groups, key === undefined), `by ${groups}`);
    assert.deepEqual(shown(totals), sums(entries, key === undefined), `all of ${groups}`);
    return totals;
  };

  for (const groups of [["account"], ["account", "key", "day"], ...GROUPINGS]) {
    await check("/usage", { groups, entries: book.entries });
  }
  for (const customer of [month.rich, month.planned, month.gifted, month.poor]) {
    const entries = book.entries.filter(({ account }) => account === customer.id);
    for (const groups of GROUPINGS) {
      await check("/v1/usage", { groups, entries, key: customer.keys[0]!.key });
    }
  }

  // And what the test has written down is what the transfers say.
  const [booked] = await sql<[{ money: string; quota: string; shortfall: string }]>`
    select coalesce(sum(amount) filter (where kind = 'capture' and unit = 'money'), 0) as money,
           coalesce(sum(amount) filter (where kind = 'capture' and unit <> 'money'), 0)::bigint as quota,
           coalesce(sum(amount) filter (where kind = 'shortfall'), 0) as shortfall
      from transfer where created_at >= '2026-03-01' and created_at < '2026-04-01'`;
  const totals = await check("/usage", { groups: ["model"], entries: book.entries });
  assert.equal(Number(booked.quota), totals.quota);
  const trimmed = (amount: string) => amount.replace(/(\.\d\d\d*?)0+$/, "$1");
  assert.equal(trimmed(booked.money), totals.charged);
  assert.equal(trimmed(booked.shortfall), totals.shortfall);
  assert.ok(totals.failed > 0 && totals.quota > 0 && totals.uncosted > 0 && totals.gift !== "0.00");
  await gateway.verify();
});
