import assert from "node:assert/strict";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { runCliHere } from "../helpers/run_cli.ts";

const cli = runCliHere;

Deno.test("gateway token, account, key and audit do what the admin API does, and are entered as the command line", async () => {
  await using gateway = await openGateway();
  const root = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
  const { account } = gateway;
  const must = async (args: string[], text: RegExp, environment: Record<string, string> = root) => {
    const done = await cli(args, environment);
    assert.equal(done.code, 0, `${args.join(" ")}: ${done.text}`);
    assert.match(done.text, text);
    return done.text;
  };
  const created = await must(
    ["token", "create", "desk", "--scopes", "read,support"],
    /^adm-\w{43}\n/,
  );
  const token = /^adm-\w{43}/.exec(created)![0];
  const desk = { ...root, ADMIN_TOKEN: token };
  await must(["token", "list"], /desk {2}read,support/);

  const credit = ["account", "credit", account, "100.00", "--reference", "typo"];
  await must(credit, /Credit added: 100\.00/);
  assert.match((await cli(credit, desk)).text, /lacks the scope "money"/);
  await must(
    ["account", "correct", account, "-90.00", "--reference", "fix", "--reason", "10, not 100"],
    /Correction booked: -90\.00.*Available: 10\.00/,
  );
  await must(["account", "update", account, "--name", "Ann Ltd"], /\(Ann Ltd\)/, desk);
  await must(["account", "update", account, "--plan", "pro", "--preview"], /plan +\w+ +pro/);
  await must(["account", "list", "--search", "ann ltd"], new RegExp(account));
  await must(["account", "suspend", account, "--reason", "fraud"], /Account suspended/, desk);
  await must(["account", "show", account], /status +suspended/);
  await must(["account", "resume", account], /active again/);

  const made = await must(["key", "create", account, "--name", "k", "--json"], /"key": "sk-/);
  const { id } = JSON.parse(made);
  await must(
    [
      "key",
      "update",
      id,
      "--allowed-ips",
      "10.0.0.0/8",
      "--budget",
      "5.00/week",
      "--log-bodies",
      "off",
    ],
    /from 10\.0\.0\.0\/8; bodies not kept; budget 5\.00\/week/,
  );
  await must(["key", "update", id, "--allowed-ips", "", "--budget", ""], /bodies not kept/);
  await must(["usage", "--by", "model", "--metadata", "team=red"], /No requests in this period/);
  await must(
    ["usage", "--by", "account", "--csv"],
    /^account,account_name,requests,.*,cost,uncosted/,
  );
  assert.match((await cli(["usage", "--by", "week"], desk)).text, /group_by must be up to 6/);
  await must(["key", "list", account], /spent 0\.00 +bodies not kept/);
  await must(["account", "close", account], /Account closed/);

  const log = await must(["audit", "--account", account, "--json"], /account\.correct/);
  const { data } = JSON.parse(log);
  assert.ok(data.every(({ via }: { via: string }) => via === "cli"));
  await must(["audit", "--action", "account.update"], /desk +cli +account\.update[^]*fraud/);
  const tokens = JSON.parse(await must(["token", "list", "--json"], /desk/));
  await must(["token", "revoke", tokens.data[0].id], /Admin token revoked/);
  assert.match((await cli(["account", "list"], desk)).text, /Invalid admin token/);
});
