import assert from "node:assert/strict";
import { fraction } from "../../src/lib/money.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { ADMIN_TOKEN, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { asking, costing } from "../helpers/open_ledger.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const MONTH = new Date().toISOString().slice(0, 7);

async function cli(gateway: TestGateway, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "src/cli/main.ts", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", GATEWAY_URL: gateway.address, ADMIN_TOKEN },
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}

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
