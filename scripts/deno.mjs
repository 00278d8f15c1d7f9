// Runs the pinned Deno on machines that only have Node: node scripts/deno.mjs <arguments of deno>
//
// npm fetches it (a binary inside a registry package). It is started from here and not through
// `npm exec`, whose shell and spawnSync do not pass signals on: `kill` would end them and leave the gateway running.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const VERSION = "2.9.5";
const PRINT_PATH = "--print-path";

/** Deno on the PATH: the program itself, also where npm put a script in front of it. */
function onPath() {
  const name = process.platform === "win32" ? "deno.cmd" : "deno";
  const found = (process.env.PATH ?? "").split(delimiter)
    .map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) return null;
  const real = realpathSync(found);
  if (!real.endsWith("bin.cjs")) return real;
  return createRequire(real)(join(dirname(real), "install_api.cjs")).runInstall();
}

function isPinned(program) {
  try {
    const text = execFileSync(program, ["--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.startsWith(`deno ${VERSION} `);
  } catch {
    return false;
  }
}

/** Lets npm fetch Deno and run this script with Deno on the PATH, to print where it is. */
function fetched() {
  const args = [
    "exec",
    "--yes",
    `--package=deno@${VERSION}`,
    "--",
    "node",
    fileURLToPath(import.meta.url),
    PRINT_PATH,
  ];
  const shell = process.platform === "win32";
  return execFileSync("npm", args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell,
  }).trim();
}

/**
 * SIGHUP asks for a reload. A terminal that closes also sends it to all its processes: npm ends by it, and a
 * gateway that continued would keep its port and its folder unnoticed. So when the parent has just ended, the
 * gateway is stopped.
 */
function stopWithParent(child) {
  const CHECK_MS = 1_000;
  let parent = process.ppid;
  // A parent that ended earlier, as in a daemon, has nothing to do with this signal.
  setInterval(() => parent = process.ppid, CHECK_MS).unref();
  return () => {
    const before = parent;
    setTimeout(() => {
      if (process.ppid !== before) child.kill("SIGTERM");
    }, CHECK_MS / 2);
  };
}

if (process.argv[2] === PRINT_PATH) {
  console.log(onPath());
} else {
  const installed = onPath();
  const program = installed !== null && isPinned(installed) ? installed : fetched();
  // Behind a company's own certificate authority the system's certificates are needed too.
  process.env.DENO_TLS_CA_STORE ??= "mozilla,system";
  process.env.DENO_NO_UPDATE_CHECK ??= "1";
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  process.on("SIGHUP", stopWithParent(child));
  child.on("error", (error) => {
    console.error(`Cannot start Deno at ${program}: ${error.message}`);
    process.exit(1);
  });
  // The exit code that a shell would give: a supervisor sees which signal ended the gateway.
  const exitCodeOf = (signal) => 128 + (constants.signals[signal] ?? 1);
  child.on(
    "exit",
    (code, signal) => process.exit(signal === null ? code ?? 1 : exitCodeOf(signal)),
  );
}
