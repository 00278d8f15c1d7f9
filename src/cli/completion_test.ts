import assert from "node:assert/strict";
import type { Command, Terminal } from "./command.ts";
import { completion } from "./completion.ts";

const command = (options: string[] = []): Command => ({
  usage: "",
  summary: "It's done",
  options: Object.fromEntries(
    options.map((name) => [name, { type: "string" as const, summary: `the ${name}` }]),
  ),
  run: () => Promise.resolve(0),
});
const COMMANDS = [
  ["check", command()],
  ["account create", command(["email", "plan"])],
  ["account show", command()],
] as const;

async function scriptFor(shell: string): Promise<string> {
  let printed = "";
  const terminal = { print: (_: unknown, text: string) => printed = text } as unknown as Terminal;
  await completion(() => COMMANDS).run(terminal, [shell], {});
  return printed;
}

/** What bash offers for a line; an empty last word asks for the next one. */
async function offered(words: string[]): Promise<string[]> {
  const script = `${await scriptFor("bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length - 1}
_gateway
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await new Deno.Command("bash", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout).trim().split("\n").filter((word) => word !== "");
}

Deno.test("bash completes commands, groups and options", async () => {
  assert.deepEqual(await offered(["gateway", ""]), ["check", "account", "--help", "--version"]);
  assert.deepEqual(await offered(["gateway", "ac"]), ["account"]);
  assert.deepEqual(await offered(["gateway", "account", ""]), ["create", "show"]);
  assert.deepEqual(await offered(["gateway", "account", "create", "--"]), [
    "--email",
    "--plan",
    "--json",
    "--help",
  ]);
  assert.deepEqual(await offered(["gateway", "account", "create", "Ann", "--p"]), ["--plan"]);
  assert.deepEqual(await offered(["gateway", "nothing", ""]), []);
});

Deno.test("zsh uses the same script, fish has one line for each command and option, another shell is refused", async () => {
  assert.match(await scriptFor("zsh"), /^autoload .*bashcompinit\n/);
  const fish = await scriptFor("fish");
  assert.match(fish, /-n '__fish_seen_subcommand_from account' -a show -d 'It\\'s done'/);
  assert.match(fish, /-l email -d 'the email'/);
  await assert.rejects(async () => await scriptFor("tcsh"), /bash, zsh or fish/);
});
