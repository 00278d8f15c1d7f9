import assert from "node:assert/strict";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { sleep } from "../../src/lib/timers.ts";
import { statusOf } from "../helpers/status_of.ts";
import { freePort } from "../../scripts/free_port.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function run(program: string, args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(program, { args, stderr: "null" }).output();
  return new TextDecoder().decode(stdout).trim();
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!await holds()) {
    assert.ok(performance.now() < giveUpAt, `never ${what}`);
    await sleep(100);
  }
}

/** Processes of a group, with what they run, without those that have ended. */
async function groupOf(id: number): Promise<string[]> {
  const lines = (await run("ps", ["-eo", "pgid=,pid=,stat=,args="])).split("\n");
  return lines.map((line) => line.trim().split(/\s+/))
    .filter(([group, , state]) => Number(group) === id && !state!.startsWith("Z"))
    .map(([, pid, , ...args]) => [pid, ...args].join(" "));
}

Deno.test({
  name: "SIGHUP: the gateway alone reloads; with npm and all of its group it stops well",
  ignore: Deno.build.os === "windows" || await run("sh", ["-c", "command -v npm"]) === "",
  async fn() {
    await using store = await freshDatabase();
    const port = freePort();
    const address = `http://127.0.0.1:${port}`;
    // In a group of its own, as a terminal's shell starts it.
    const npm = new Deno.Command("setsid", {
      args: ["npm", "start"],
      cwd: ROOT,
      env: {
        PORT: String(port),
        DATA_DIR: store.dataDir,
        DATABASE_URL: store.databaseUrl ?? "",
        LOG_FORMAT: "json",
        ADMIN_TOKEN: "0123456789abcdef",
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let said = "";
    const reading = (async () => {
      for await (const text of npm.stderr.pipeThrough(new TextDecoderStream())) said += text;
    })();
    try {
      await until(
        "ready",
        () =>
          fetch(`${address}/readyz`).then(async (res) => (await res.text(), res.ok), () => false),
      );
      const wrapper = (await groupOf(npm.pid)).find((line) =>
        /^\d+ \S*node scripts\/deno/.test(line)
      );
      Deno.kill(Number(wrapper!.split(" ")[0]), "SIGHUP");
      await until("reloaded", async () => {
        const res = await fetch(`${address}/admin/v1/config`, {
          headers: { authorization: "Bearer 0123456789abcdef" },
        });
        return (await res.json()).last_reload.cause === "signal";
      });
      // As long as a stop would take to show.
      await sleep(2_000);
      assert.equal(await statusOf(fetch(`${address}/readyz`)), 200, "a reload is no stop");

      Deno.kill(-npm.pid, "SIGHUP");
      await until("ended", async () => (await groupOf(npm.pid)).length === 0);
      await reading;
      assert.match(said, /"stopped"/);
    } finally {
      for (const line of await groupOf(npm.pid)) Deno.kill(Number(line.split(" ")[0]), "SIGKILL");
      await npm.status;
      await reading;
    }
  },
});
