import assert from "node:assert/strict";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { findRemovedInUse } from "../../src/domain/accounts/removed_in_use.ts";
import { until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { runCli } from "../helpers/run_cli.ts";

Deno.test("a plan or price book that accounts use goes only by force", async (t) => {
  await using gateway = await openGateway();
  const { configStore, database: { sql } } = gateway.gateway;
  const text = await Deno.readTextFile(gateway.configFile);
  const version = configStore.current.version;
  const cli = (...args: string[]) =>
    runCli(args, { GATEWAY_URL: gateway.address, ADMIN_TOKEN, GATEWAY_CONFIG: gateway.configFile });
  const slow = await createAccount(sql, { name: "A", plan: "slow" });
  const booked = await createAccount(sql, { name: "B", price_book: "vip" });
  // Not in use: its plan has ended.
  await createAccount(sql, { name: "C", plan: "gold" });
  await sql`update account set plan_expires_at = now() - interval '1 day' where plan = 'gold'`;
  // Nor by an account that is closed.
  await createAccount(sql, { name: "D", plan: "silver" });
  await sql`update account set suspended_at = now(), closed_at = now() where plan = 'silver'`;
  const withAll = text
    .replace(
      "  pro: { price_book: pro }\n",
      "  pro: { price_book: pro }\n  gold: {}\n  silver: {}\n",
    )
    .replace(
      "\n  pro:\n",
      '\n  vip:\n    effective_at: 2026-01-01T00:00:00Z\n    extends: default\n    entries:\n      - { model: tiny-chat, billing_type: per_call, price: "0.01", unit: call }\n  pro:\n',
    );
  const withoutVip = withAll.replace(/\n {2}vip:[\s\S]*?(?=\n {2}pro:\n {4})/, "");
  const reduced = withoutVip.replace(/ {2}slow: .*\n/, "").replace(
    "  gold: {}\n  silver: {}\n",
    "",
  );
  assert.ok(reduced.length < withoutVip.length && withoutVip.length < withAll.length);
  await Deno.writeTextFile(gateway.configFile, withAll);
  await until("the file is in force", () => configStore.current.version !== version);
  const inForce = configStore.current.version;

  await t.step("plan warns with the accounts", async () => {
    await Deno.writeTextFile(gateway.configFile, reduced);
    await until("the save is seen", () => !configStore.lastReload.ok);
    const { out } = await cli("plan");
    assert.match(
      out,
      new RegExp(
        `warning plans: 1 account \\(${slow.id}\\) uses the plan slow, which is no longer`,
      ),
    );
    assert.match(
      out,
      new RegExp(`warning prices: 1 account \\(${booked.id}\\) uses the price book vip, which is`),
    );
    assert.doesNotMatch(out, /(?:gold|silver), which/);
  });

  await t.step("a save changes nothing", () => {
    const { cause, ok, issues } = configStore.lastReload;
    assert.deepEqual([cause, ok, issues.length], ["file", false, 2]);
    assert.equal(configStore.current.version, inForce);
  });

  await t.step("POST /admin/v1/config/reload 400 names both, and the way on", async () => {
    const { code, out } = await cli("reload");
    assert.equal(code, 1);
    assert.match(out, /uses the plan slow/);
    assert.match(out, /uses the price book vip.*`gateway reload --force`/);
    const wrong = await gateway.admin("POST", "/config/reload?force=maybe");
    assert.match((await errorOf(wrong)).message, /force must be one of true, false/);
    assert.equal(configStore.current.version, inForce);
  });

  await t.step("reload --force goes on, with warnings", async () => {
    const { code, err } = await cli("reload", "--force");
    assert.equal(code, 0, err);
    assert.ok(!configStore.current.plans.has("slow"));
    assert.deepEqual(configStore.lastReload.issues.map(({ severity }) => severity), [
      "warning",
      "warning",
    ]);
  });

  await t.step("another node takes over what one was forced to", async () => {
    await until("it is in the history", async () => {
      const [row] = await sql`select version from config_history order by number desc limit 1`;
      return row?.version === configStore.current.version;
    });
    const before = { ...configStore.current, plans: new Map([["slow", {} as never]]) };
    assert.deepEqual(await findRemovedInUse(sql, configStore.current, before), []);
  });
});

Deno.test("what cannot be looked up can be forced", async () => {
  await using gateway = await openGateway();
  const { configStore } = gateway.gateway;
  const without = { ...configStore.current, plans: new Map([["free", {} as never]]) };
  const broken = (() => Promise.reject(new Error("gone"))) as never;
  const [objection] = await findRemovedInUse(broken, without, configStore.current);
  assert.match(objection!.message, /could not be asked whether accounts use slow, pro/);
  assert.equal(objection!.canBeForced, true);
});
