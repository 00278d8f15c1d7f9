// Runs the Deno that npm fetched, for machines that only have Node.
//
// The npm package starts Deno with spawnSync, which cannot pass a signal on: `kill` would end the
// wrapper and leave the gateway running. This finds the same program and hands signals through.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";

const command = process.platform === "win32" ? "deno.cmd" : "deno";
const found = (process.env.PATH ?? "").split(delimiter)
  .map((folder) => join(folder, command)).find((path) => existsSync(path));
if (found === undefined) {
  console.error("Cannot find Deno. Start this through `npm start` or `npm test`, which fetch it.");
  process.exit(1);
}
const real = realpathSync(found);
const program = real.endsWith("bin.cjs")
  ? createRequire(real)(join(dirname(real), "install_api.cjs")).runInstall()
  : real;

// Behind a company's own certificate authority the system's certificates are needed too.
process.env.DENO_TLS_CA_STORE ??= "mozilla,system";
process.env.DENO_NO_UPDATE_CHECK ??= "1";
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`Cannot start Deno at ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal === null ? code ?? 1 : 1));
