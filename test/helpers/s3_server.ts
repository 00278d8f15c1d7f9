import { freePort } from "../../scripts/free_port.ts";

/** A server that speaks S3: `s3rver` from npm, as its own process. */
export interface S3Server extends AsyncDisposable {
  readonly storage: string;
  readonly environment: Record<string, string>;
  /** What lies in its folder. */
  readonly folder: string;
}

/** Run beside the project, not in it: its sixty packages are a dependency of this test only. */
const PACKAGE = "npm:s3rver@3.7.1";
const BUCKET = "our-files";
const KEY = "S3RVER";

export async function startS3(): Promise<S3Server> {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-s3-" });
  const port = freePort();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-lock", "--no-config", PACKAGE].concat([
      ...["--directory", folder, "--address", "127.0.0.1", "--port", String(port)],
      ...["--configure-bucket", BUCKET],
    ]),
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let isOver = false;
  const ended = child.status.then((status) => (isOver = true, status));
  const server: S3Server = {
    storage: "storage: { files: s3, s3: { " +
      `endpoint: "http://127.0.0.1:${port}", bucket: ${BUCKET}, prefix: gate/, ` +
      "access_key_id: '${S3_KEY}', secret_access_key: '${S3_SECRET}' } }\n",
    environment: { S3_KEY: KEY, S3_SECRET: KEY },
    folder,
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill("SIGKILL");
      await ended;
      await Deno.remove(folder, { recursive: true });
    },
  };
  for (let waited = 0; waited < 60_000 && !isOver; waited += 50) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      await answer.body?.cancel();
      return server;
    } catch {
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
  await server[Symbol.asyncDispose]();
  throw new Error(`${PACKAGE} does not start`);
}
