/**
 * A real Postgres server for tests and benchmarks, in a temporary folder that is removed with it.
 * Run directly, it starts one, prints its URL, and serves until Ctrl-C.
 */
import { join } from "node:path";
import postgres from "postgres";
import { findPostgres, type PostgresProgram } from "./postgres_program.ts";
import { freePort } from "./free_port.ts";

export type Settings = Record<string, string>;

/** For tests: nothing needs to survive a power failure. */
export const FAST: Settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  max_connections: "200",
};

/** For benchmarks: the defaults of Postgres, with connections for a pool per node. */
export const DURABLE: Settings = { max_connections: "200" };

export interface PostgresOptions {
  /** Default: `FAST`. */
  settings?: Settings;
  /** Clients must give this password; without one any client on this machine may connect. */
  password?: string;
  /** Where its folder is created; by default the system's folder for temporary files. */
  dir?: string;
}

export interface RunningPostgres extends AsyncDisposable {
  /** Of the maintenance database `postgres`. */
  url: string;
  port: number;
  /** Where its files are, and its unix socket. */
  folder: string;
  /** Shuts the server down and removes its folder. */
  stop(): Promise<void>;
  /** Ends the server like a crash: connections are cut, no checkpoint. The folder stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, after killing it if it still runs. */
  restart(): Promise<void>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<RunningPostgres> {
  const program = await findPostgres();
  const folder = await Deno.makeTempDir({ dir: options.dir, prefix: "tollgate-postgres-" });
  let port = 0;
  let server: Server | null = null;

  async function kill(): Promise<void> {
    await server?.end("SIGQUIT");
    server = null;
  }
  async function stop(): Promise<void> {
    await server?.end("SIGINT");
    server = null;
    await Deno.remove(folder, { recursive: true });
  }

  try {
    await makeCluster(program, folder, options.password);
    // Another process may take the free port before Postgres does: then try another port.
    for (let attempt = 1; server === null; attempt++) {
      port = freePort();
      server = await serve(program, folder, port, options).catch((error) => {
        if (attempt === 3) throw error;
        return null;
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: urlOf(port, options),
    port,
    folder,
    stop,
    kill,
    async restart() {
      await kill();
      server = await serve(program, folder, port, options);
    },
    [Symbol.asyncDispose]: stop,
  };
}

function urlOf(port: number, { password }: PostgresOptions): string {
  const secret = password === undefined ? "" : `:${encodeURIComponent(password)}`;
  return `postgres://postgres${secret}@127.0.0.1:${port}/postgres`;
}

async function makeCluster(
  { initdb, runAs }: PostgresProgram,
  folder: string,
  password: string | undefined,
): Promise<void> {
  const args = ["-D", join(folder, "data"), "-U", "postgres", "-E", "UTF8"];
  args.push("--locale=C", "--no-sync", "--no-instructions");
  if (password === undefined) {
    args.push("--auth=trust");
  } else {
    await Deno.writeTextFile(join(folder, "password"), password);
    args.push("--auth=scram-sha-256", `--pwfile=${join(folder, "password")}`);
  }
  if (runAs !== undefined) {
    for await (const { name } of Deno.readDir(folder)) {
      await Deno.chown(join(folder, name), runAs.uid, runAs.gid);
    }
    await Deno.chown(folder, runAs.uid, runAs.gid);
  }
  const made = await new Deno.Command(initdb, { args, cwd: folder, ...runAs }).output();
  if (!made.success) {
    throw new Error(`Cannot make a Postgres cluster: ${new TextDecoder().decode(made.stderr)}`);
  }
}

interface Server {
  end(signal: Deno.Signal): Promise<void>;
}

async function serve(
  program: PostgresProgram,
  folder: string,
  port: number,
  options: PostgresOptions,
): Promise<Server> {
  const settings: Settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    ...(options.settings ?? FAST),
  };
  const process = new Deno.Command(program.postgres, {
    args: [
      ...["-D", join(folder, "data"), "-p", String(port)],
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    ...program.runAs,
  }).spawn();
  const guard = removeAfterOurEnd(process.pid, folder);
  let output = "";
  let ended = false;
  const reading = (async () => {
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      output = (output + text).slice(-4000);
    }
  })();
  const end = async (signal: Deno.Signal) => {
    if (!ended) process.kill(signal);
    await process.status;
    await reading;
    await guard?.release();
  };
  process.status.then(() => ended = true);

  const giveUpAt = Date.now() + 60_000;
  while (!await accepts(urlOf(port, options))) {
    if (!ended && Date.now() < giveUpAt) continue;
    await end("SIGQUIT");
    throw new Error(`Cannot start Postgres: ${output}`);
  }
  return { end };
}

/** Ends the server and removes its folder if this process is killed before it can do so. */
function removeAfterOurEnd(pid: number, folder: string) {
  if (Deno.build.os === "windows") return null;
  // Its input is closed when this process ends, in whatever way.
  const wait = 'trap "" INT TERM; cat; kill -QUIT "$0" || exit; ' +
    'while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"';
  const process = new Deno.Command("sh", {
    args: ["-c", wait, String(pid), folder],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async release() {
      process.kill("SIGKILL");
      await process.stdin.close().catch(() => undefined);
      await process.status;
    },
  };
}

async function accepts(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, fetch_types: false });
  try {
    await sql`select 1`;
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return false;
  } finally {
    await sql.end();
  }
}

if (import.meta.main) {
  const durable = Deno.args.includes("--durable");
  const server = await startPostgres({ settings: durable ? DURABLE : FAST });
  console.log(server.url);
  const { promise: interrupted, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, resolve);
  await interrupted;
  await server.stop();
  Deno.exit(0);
}
