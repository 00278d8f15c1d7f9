import assert from "node:assert/strict";
import type { Queries } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import { type LogRows, openBatch } from "./batch.ts";
import type { Item } from "./item.ts";

type Numbered = Item & { n: number };

const item = (id: string, account_id?: string): Item => ({ op: "release", id, account_id });

/** A batch whose statements are kept; `fail` gives the error of a statement with these items. */
function open(
  fail: (items: Numbered[]) => Error | null = () => null,
  logRows?: LogRows,
) {
  const statements: string[][] = [];
  const sql = (_: unknown, ...values: string[]) => {
    const items = JSON.parse(values.at(-4)!) as Numbered[];
    statements.push(items.map(({ id }) => id));
    const error = fail(items);
    if (error !== null) return Promise.reject(error);
    // The database answers in an order of its own.
    const is_logged = values[0] !== "bad rows";
    return Promise.resolve(
      items.map(({ n, id }) => ({ n, id, outcome: "resolved", is_logged })).reverse(),
    );
  };
  return { batch: openBatch(sql as unknown as Queries, logRows), statements };
}

const failed = (code: string) => Object.assign(new Error(code), { code });

Deno.test("items of one moment share a statement, and each gets its own result", async () => {
  const { batch, statements } = open();
  const ids = ["a", "b", "c"];
  const outcomes = await Promise.all(ids.map((id) => batch.add(item(id))));
  assert.deepEqual(outcomes.map(({ id }) => id), ids);
  assert.deepEqual(statements, [ids]);
});

Deno.test("two items of one hold do not share a statement, and no statement has more than 256", async () => {
  const { batch, statements } = open();
  await Promise.all([batch.add(item("a")), batch.add(item("a")), batch.add(item("b"))]);
  assert.deepEqual(statements, [["a", "b"], ["a"]]);
  statements.length = 0;
  await Promise.all(Array.from({ length: 257 }, (_, n) => batch.add(item(`id ${n}`))));
  assert.deepEqual(statements.map(({ length }) => length), [256, 1]);
});

Deno.test("a statement that fails is split by account and then by item: the wrong one fails alone", async () => {
  const { batch, statements } = open((items) =>
    items.some(({ id }) => id === "bad") ? failed("22003") : null
  );
  const items = [item("a", "acc_1"), item("bad", "acc_2"), item("b", "acc_2"), item("c")];
  const results = await Promise.allSettled(items.map((one) => batch.add(one)));
  assert.deepEqual(results.map(({ status }) => status), [
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  assert.deepEqual(statements[0], ["a", "bad", "b", "c"]);
  assert.deepEqual(statements.slice(1, 4), [["a"], ["bad", "b"], ["c"]]);
  assert.deepEqual(statements.slice(4), [["bad"], ["b"]]);
});

Deno.test("without the database nothing is split; nor is one account that is locked", async () => {
  for (
    const [error, items, expected] of [
      [new ConnectionError("CONNECTION_CLOSED", "away"), [item("a", "1"), item("b", "2")], 1],
      [failed("55P03"), [item("a", "1"), item("b", "1")], 1],
      [failed("55P03"), [item("a", "1"), item("b", "2")], 3],
      [failed("55P03"), [item("a"), item("b")], 3],
    ] as const
  ) {
    const { batch, statements } = open(() => error);
    const results = await Promise.allSettled(items.map((one) => batch.add(one)));
    assert.ok(results.every(({ status }) => status === "rejected"));
    assert.equal(statements.length, expected);
  }
});

/** Rows of the request log; `ends` has whether those of each statement are written. */
function someRows(rows: string) {
  const asked: number[] = [];
  const ends: boolean[] = [];
  const logRows: LogRows = {
    takeAlong(rowsMax) {
      asked.push(rowsMax);
      return { rows, end: (isWritten) => void ends.push(isWritten) };
    },
  };
  return { logRows, asked, ends };
}

Deno.test("a statement takes rows of the request log along, as many as it has items or a few", async () => {
  const { logRows, asked, ends } = someRows("rows");
  const { batch, statements } = open(undefined, logRows);
  await batch.add(item("a"));
  await Promise.all(Array.from({ length: 40 }, (_, n) => batch.add(item(`id ${n}`))));
  assert.deepEqual(statements.map(({ length }) => length), [1, 40]);
  assert.deepEqual([asked, ends], [[16, 40], [true, true]]);
});

Deno.test("rows of the request log are not written when they are bad, or when the statement failed", async () => {
  const bad = someRows("bad rows");
  await open(undefined, bad.logRows).batch.add(item("a"));
  assert.deepEqual(bad.ends, [false]);

  const { logRows, ends } = someRows("rows");
  const { batch } = open(
    (items) => items.some(({ id }) => id === "bad") ? failed("22003") : null,
    logRows,
  );
  const results = await Promise.allSettled([batch.add(item("a")), batch.add(item("bad"))]);
  assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.deepEqual(ends.toSorted(), [false, false, true]);
});
