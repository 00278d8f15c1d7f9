import assert from "node:assert/strict";
import fc from "fast-check";
import { decimal, formatDecimal } from "../../lib/money.ts";
import { type ColumnChoice, InvoiceError, readInvoice } from "./invoice.ts";

const MONTH = "2026-01";
const read = (text: string, columns: ColumnChoice = {}) =>
  readInvoice(text, { month: MONTH, columns });

const linesOf = async (text: string) =>
  (await read(text)).lines.map(({ model, day, amount }) => [model, day, formatDecimal(amount)]);

Deno.test("an export of costs by day and line item is read", async () => {
  const invoice = await read(
    "start_time,start_time_iso,amount_value,amount_currency,line_item,project_id\r\n" +
      '1767225600,2026-01-01T00:00:00+00:00,0.25,usd,"big-2025-08-06, input",proj_1\r\n' +
      '1767312000,2026-01-02T00:00:00+00:00,1.2e-05,usd,"big-2025-08-06, output",proj_1\r\n' +
      "1764547200,2025-12-01T00:00:00+00:00,7,usd,big,proj_1",
  );
  assert.deepEqual(invoice, {
    lines: [
      { model: "big-2025-08-06, input", day: "2026-01-01", amount: decimal("0.25") },
      { model: "big-2025-08-06, output", day: "2026-01-02", amount: decimal("0.000012") },
    ],
    currency: "USD",
    columns: {
      ...{ model: "line_item", amount: "amount_value", date: "start_time_iso" },
      currency: "amount_currency",
    },
    outside: 1,
  });
});

Deno.test("names of columns are found in any case, and a currency in the name of the amount", async () => {
  const invoice = await read("\uFEFFUsage Date (UTC),Model,Cost USD\n2026-01-31,small,3\n");
  assert.deepEqual([invoice.currency, invoice.columns.date, invoice.lines[0]!.day], [
    "USD",
    "Usage Date (UTC)",
    "2026-01-31",
  ]);
});

Deno.test("an invoice without dates is of the month; months and Unix times are dates too", async () => {
  assert.deepEqual(await linesOf("model,cost\na,1\n"), [["a", null, "1.00"]]);
  assert.deepEqual(await linesOf("month,model,cost\n2026-01,a,1\n2026-02,a,5\n"), [[
    "a",
    null,
    "1.00",
  ]]);
  assert.deepEqual(await linesOf("start_time,model,cost\n1767225600,a,1\n"), [[
    "a",
    "2026-01-01",
    "1.00",
  ]]);
});

Deno.test("lines of totals are left out, empty lines too, and a line without a model is kept", async () => {
  const text = 'model,cost\na,"$1,234.50"\n\n,0.5\nb,-0.25\nTotal,1234.75\n';
  assert.deepEqual(await linesOf(text), [
    ["a", null, "1234.50"],
    ["(none)", null, "0.50"],
    ["b", null, "-0.25"],
  ]);
});

Deno.test("columns can be chosen by name", async () => {
  const { lines } = await read("model,Product name,cost,Net\nx,a,9,1\n", {
    model: "product name",
    amount: "net",
  });
  assert.deepEqual(lines, [{ model: "a", day: null, amount: decimal("1") }]);
});

Deno.test("a file that is no invoice is refused with the line and what to do", async () => {
  const cases: [text: string, message: RegExp, columns?: ColumnChoice][] = [
    ["", /^The file is empty\.$/],
    ["model;cost\na;1\n", /separated by semicolons: export the file with commas/],
    [
      "model,tokens\na,1\n",
      /No column looks like the amount: name it with --amount-column\. The first line has: model, tokens\.$/,
    ],
    ["thing,cost\na,1\n", /No column looks like the model: name it with --model-column/],
    ["model,cost\na,1\n", /There is no column "net"\. The first line has: model, cost\.$/, {
      amount: "net",
    }],
    ["model,cost\na,1\nb\n", /^Line 3: has 1 columns, and the first line has 2\.$/],
    ['model,cost\n"a\nb",1\nc,much\n', /^Line 4: "much" is not an amount: write it as 1234\.56\.$/],
    ["model,cost\na,\n", /^Line 2: "" is not an amount/],
    ['model,cost\na,"1,5"\n', /^Line 2: "1,5" is not an amount/],
    [
      "date,model,cost\n01/31/2026,a,1\n",
      /^Line 2: "01\/31\/2026" is not a date: write it as 2026-01-31\.$/,
    ],
    ["date,model,cost\n2026-13-01,a,1\n", /is not a date/],
    ['model,cost\n"a,1\n', /A quote in the file is not closed/],
    ["PK\0\0", /The file is not text: export it as CSV/],
    ["model,cost,currency\na,1,usd\nb,1,eur\n", /several currencies: USD, EUR/],
  ];
  for (const [text, message, columns] of cases) {
    await assert.rejects(read(text, columns), (error) => {
      assert.ok(error instanceof InvoiceError, text);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("any amount is read exactly, to twelve decimals", async () => {
  const amount = fc.bigInt(-(10n ** 20n), 10n ** 20n);
  await fc.assert(fc.asyncProperty(amount, async (amount) => {
    const { lines } = await read(`model,cost\na,${formatDecimal(amount)}\n`);
    assert.equal(lines[0]!.amount, amount);
  }));
  const exact = async (text: string) => (await read(`model,cost\na,${text}\n`)).lines[0]!.amount;
  assert.equal(await exact("0.0000000000005"), 1n, "half a unit is rounded up");
  assert.equal(await exact("0.00000000000049"), 0n);
  assert.equal(await exact("1.5E+2"), decimal("150"));
  assert.equal(await exact("2e-13"), 0n);
});
