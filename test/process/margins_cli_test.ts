import assert from "node:assert/strict";
import { fraction } from "../../src/lib/money.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { ADMIN_TOKEN, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { asking, costing } from "../helpers/open_ledger.ts";
import { runCli } from "../helpers/run_cli.ts";

const MONTH = new Date().toISOString().slice(0, 7);

const cli = (gateway: TestGateway, ...args: string[]) =>
  runCli(args, { GATEWAY_URL: gateway.address, ADMIN_TOKEN });

/** A gateway whose ledger has requests that cost 0.25 and 0.50 at one provider, and one of unknown cost at another. */
async function openCharged(): Promise<TestGateway> {
  const gateway = await openGateway();
  const { database } = gateway.gateway;
  const ledger = openLedger({
    database,
    money: () => ({ currency: "USD", currencyScale: 6 }),
    onExceeded: () => {},
    onOrphanedHold: () => {},
  });
  await addCredit(database.sql, {
    account: gateway.account,
    kind: "cash",
    amount: "10",
    reference: "r",
  });
  for (
    const [upstream, cost] of [["house/big", "0.25"], ["house/small", "0.5"], ["away/x", null]]
  ) {
    const hold = await ledger.hold(asking({ account: gateway.account, amount: "1" }));
    const served = { upstream: upstream!, cost: cost === null ? null : fraction(cost!) };
    await hold.settle({ ...costing("1"), served });
  }
  return gateway;
}

Deno.test("gateway margins prints a table, CSV or JSON, and says what cost is unknown", async () => {
  await using gateway = await openCharged();
  const { code, out } = await cli(gateway, "margins", "--by", "provider", "--month", MONTH);
  assert.equal(code, 0, out);
  assert.match(out, /^away +1 +1\.00 +unknown +unknown +- +1$/m);
  assert.match(out, /^house +2 +2\.00 +0\.75 +1\.25 +62\.5$/m);
  assert.match(out, /^total +3 +3\.00 +0\.75 +1\.25 +62\.5 +1$/m);
  assert.match(out, /Unknown cost: 1 requests or parts of dramas, for 1\.00 of the revenue/);
  const csv = await cli(gateway, "margins", "--by", "provider", "--csv");
  assert.match(csv.out, /^provider,requests,failed,revenue,.*\r\naway,1,0,1\.00,.*,unknown,1,/);
  const json = await cli(
    gateway,
    "margins",
    "--by",
    "upstream_model",
    "--provider",
    "house",
    "--json",
  );
  assert.deepEqual(
    JSON.parse(json.out).data.map((
      line: Record<string, unknown>,
    ) => [line.upstream_model, line.cost]),
    [["big", "0.25"], ["small", "0.50"]],
  );
  assert.match((await cli(gateway, "margins", "--month", "1999-01")).out, /No requests/);
  const wrong = await cli(gateway, "margins", "--by", "colour");
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /group_by must be names out of month, day, model/);
});

Deno.test("gateway reconcile compares an invoice with recorded costs; exit code 1 when they differ", async () => {
  await using gateway = await openCharged();
  await using folder = new AsyncDisposableStack();
  const path = await Deno.makeTempDir();
  folder.defer(() => Deno.remove(path, { recursive: true }));
  const reconcile = async (csv: string, ...args: string[]) => {
    await Deno.writeTextFile(`${path}/invoice.csv`, csv);
    const common = ["--provider", "house", "--month", MONTH];
    return await cli(gateway, "reconcile", `${path}/invoice.csv`, ...common, ...args);
  };
  const equal = await reconcile("model,amount\nbig,0.25\nsmall-2025-01-01,0.505\n");
  assert.equal(equal.code, 0, equal.out + equal.err);
  assert.match(equal.out, /^small +1 +0\.505 +0\.50 +0\.005 +ok$/m);
  assert.match(equal.out, /Billed and recorded are equal\./);

  const today = new Date().toISOString().slice(0, 10);
  const other = await reconcile(
    `date,model,amount\n${today},big,0.75\n${today},new,1\n`,
    "--by",
    "day",
  );
  assert.equal(other.code, 1, other.err);
  assert.match(other.out, new RegExp(`^${today} +big +1 +0\\.75 +0\\.25 +0\\.50 +DIFFERS$`, "m"));
  assert.match(other.out, new RegExp(`^${today} +new +0 +1\\.00 +- +1\\.00 +NOT RECORDED$`, "m"));
  assert.match(other.out, new RegExp(`^${today} +small +1 +- +0\\.50 +-0\\.50 +NOT BILLED$`, "m"));
  assert.match(other.out, /^total +1\.75 +0\.75 +1\.00$/m);

  const unknown = await reconcile("model,amount\nx,3\n", "--provider", "away", "--json");
  assert.equal(unknown.code, 1);
  const { ok, lines: [line] } = JSON.parse(unknown.out);
  assert.deepEqual([ok, line.recorded, line.uncosted, line.status], [
    false,
    null,
    1,
    "cost_unknown",
  ]);

  const abroad = "model,amount,currency\nbig,0.5,GBP\nsmall,1,GBP\n";
  assert.match((await reconcile(abroad)).err, /in GBP, and costs are in EUR: say with --rate/);
  assert.equal((await reconcile(abroad, "--rate", "0.5")).code, 0);
});

Deno.test("gateway reconcile answers with exit code 2 for a file or an option that is wrong", async () => {
  await using gateway = await openCharged();
  const file = await Deno.makeTempFile();
  const cases: [csv: string, args: string[], message: RegExp][] = [
    ["model,amount\nbig,much\n", [file, "--provider", "house"], /^Line 2: "much" is not an amount/],
    [
      "model,amount\nbig,1\n",
      [file, "--provider", "hosue"],
      /There is no provider "hosue"\. Configured: /,
    ],
    ["model,amount\nbig,1\n", [file], /Missing option: --provider/],
    ["model,amount\nbig,1\n", [file, "--provider", "house", "--by", "day"], /lines without a day/],
    [
      "model,amount\nbig,1\n",
      [file, "--provider", "house", "--tolerance", "x"],
      /--tolerance must be/,
    ],
    ["", [`${file}.missing`, "--provider", "house"], /^There is no file /],
  ];
  for (const [csv, args, message] of cases) {
    await Deno.writeTextFile(file, csv);
    const { code, err } = await cli(gateway, "reconcile", ...args, "--month", MONTH);
    assert.equal(code, 2, `${args}: ${err}`);
    assert.match(err, message);
  }
  const { code, err } = await cli(
    gateway,
    "reconcile",
    file,
    "--provider",
    "house",
    "--month",
    "1/26",
  );
  assert.equal(code, 2);
  assert.match(err, /--month must be a month such as 2026-01/);
  await Deno.remove(file);
});
