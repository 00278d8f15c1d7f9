import assert from "node:assert/strict";
import { COMMANDS } from "../../src/cli/main.ts";
import { VERSION } from "../../src/platform/telemetry/version.ts";
import { runCliHere } from "../helpers/run_cli.ts";

const cli = (...args: string[]) => runCliHere(args);

Deno.test("--version tells the build", async () => {
  const { code, out } = await cli("--version");
  assert.equal(code, 0);
  assert.equal(out, `tollgate ${VERSION}, deno ${Deno.version.deno}\n`);
});

Deno.test("--help works on every command and every group", async () => {
  for (const [name, { summary }] of COMMANDS) {
    const { code, out } = await cli(...name.split(" "), "--help");
    assert.equal(code, 0, name);
    assert.ok(out.startsWith(summary), name);
  }
  for (const group of new Set(COMMANDS.map(([name]) => name.split(" ")))) {
    if (group.length === 1) continue;
    const { code, out, err } = await cli(group[0]!, "--help");
    assert.deepEqual([code, err], [0, ""], group[0]);
    assert.ok(out.startsWith(`Usage: deno task gateway ${group[0]} <command>`));
    const others = COMMANDS.filter(([name]) => !name.startsWith(`${group[0]} `));
    for (const [other] of others) {
      assert.ok(!out.includes(`  ${other} `), `${other} in ${group[0]}`);
    }
  }
});

Deno.test("a group without a command, and an unknown command, end with 2 and the list", async () => {
  const group = await cli("account");
  assert.equal(group.code, 2);
  assert.match(group.err, /^Which command of account\?\n\nUsage: deno task gateway account/);
  const unknown = await cli("acount", "list");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /^Unknown command: acount list\n\nUsage: deno task gateway <command>/);
});
