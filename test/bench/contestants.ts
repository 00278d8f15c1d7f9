import { join } from "node:path";
import {
  admin,
  makeAccount,
  openGround,
  type Process,
  startGateway,
  startProgram,
} from "./servers.ts";
import { freePort } from "../../scripts/free_port.ts";

/** Something that chat requests can be sent to. */
export interface Contestant {
  id: string;
  name: string;
  address: string;
  pid: number;
  headers: Record<string, string>;
}

/** A gateway with settings of its own. */
interface Variant {
  readonly id: string;
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

const PORTKEY = "@portkey-ai/gateway@1.15.2";
const ROOT = new URL("../../", import.meta.url).pathname;
const TOLLGATE: Variant = { id: "tollgate", name: "Tollgate", env: { WORKERS: "1" } };
const JSON_TYPE = { "content-type": "application/json" };

/** The upstream itself, and all that can stand in front of it here. */
export async function startContestants() {
  await using parts = new AsyncDisposableStack();
  const ground = parts.use(await openGround({ durable: true }));
  const upstream = parts.use(await startDeno("test/bench/upstream.ts", {}));
  const contestants: Contestant[] = [{
    id: "upstream",
    name: "the upstream itself",
    headers: JSON_TYPE,
    ...upstream,
  }];

  const nginx = await startNginx(ground.folder, upstream.address).catch(() => null);
  if (nginx !== null) {
    contestants.push({ id: "nginx", name: "nginx", headers: JSON_TYPE, ...parts.use(nginx) });
  }

  const bare = parts.use(
    await startDeno("test/bench/pass_through.ts", { UPSTREAM: upstream.address }),
  );
  contestants.push({ id: "pass_through", name: "Deno.serve + fetch", headers: JSON_TYPE, ...bare });

  const portkey = await startPortkey().catch((
    error,
  ) => (console.error(`without Portkey: ${error.message}`), null));
  if (portkey !== null) {
    const headers = {
      ...JSON_TYPE,
      authorization: "Bearer x",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstream.address}/v1`,
    };
    contestants.push({
      id: "portkey",
      name: "Portkey 1.15.2 (Node)",
      headers,
      ...parts.use(portkey),
    });
  }

  const config = await writeConfig(ground.folder, upstream.address);
  const collector = parts.use(await startDeno("test/bench/collector.ts", {}));
  const traced = { ...TOLLGATE.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.address };
  const variants: Variant[] = [
    TOLLGATE,
    { id: "tollgate_traced", name: "Tollgate, traces on", env: traced },
    { id: "tollgate_2", name: "Tollgate, WORKERS=2", env: { WORKERS: "2" } },
  ];
  for (const variant of variants) {
    contestants.push(parts.use(await startTollgate(ground, config, variant)));
  }

  const open = parts.move();
  return {
    contestants,
    folder: ground.folder,
    postgresPid: ground.postgresPid,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The gateway alone, in front of the upstream. */
export async function startTollgateAlone() {
  await using parts = new AsyncDisposableStack();
  const ground = parts.use(await openGround({ durable: true }));
  const upstream = parts.use(await startDeno("test/bench/upstream.ts", {}));
  const config = await writeConfig(ground.folder, upstream.address);
  const tollgate = parts.use(await startTollgate(ground, config, TOLLGATE));
  const open = parts.move();
  return {
    tollgate,
    folder: ground.folder,
    postgresPid: ground.postgresPid,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function writeConfig(folder: string, upstream: string): Promise<string> {
  const config = join(folder, "gateway.yaml");
  await Deno.writeTextFile(config, configFor(upstream));
  return config;
}

async function startTollgate(
  { databaseUrl, dataDir }: Awaited<ReturnType<typeof openGround>>,
  config: string,
  { id, name, env }: Variant,
): Promise<Contestant & AsyncDisposable> {
  const gateway = await startGateway(config, databaseUrl, dataDir, env);
  const key = await makePaidKey(gateway);
  const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
  return { id, name, headers, ...gateway };
}

async function makePaidKey(gateway: Process): Promise<string> {
  const { account, key } = await makeAccount(gateway);
  const credit = { kind: "cash", amount: "1000000", reference: "bench" };
  await admin(gateway, "POST", `/accounts/${account}/credits`, credit);
  return key;
}

function startDeno(file: string, env: Record<string, string>) {
  return startProgram(Deno.execPath(), ["run", "-A", file], { port: freePort(), path: "/", env });
}

/** As people run it: keep-alive to the upstream, and no buffering of streams. */
async function startNginx(folder: string, upstream: string) {
  const port = freePort();
  const config = join(folder, "nginx.conf");
  await Deno.writeTextFile(
    config,
    `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream chat { server ${upstream.replace("http://", "")}; keepalive 256; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://chat; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}`,
  );
  return await startProgram("nginx", ["-c", config], { port, path: "/" });
}

async function startPortkey() {
  const folder = join(ROOT, ".cache", "portkey");
  const program = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!(await Deno.stat(program).catch(() => null))) {
    await Deno.mkdir(folder, { recursive: true });
    const { success } = await new Deno.Command("npm", {
      args: ["install", "--prefix", folder, "--no-audit", "--no-fund", PORTKEY],
    }).output();
    if (!success) throw new Error(`npm cannot install ${PORTKEY}`);
  }
  const port = freePort();
  return await startProgram("node", [program, `--port=${port}`, "--headless"], {
    port,
    path: "/",
    env: { NODE_ENV: "production" },
  });
}

function configFor(upstream: string): string {
  return `
limits: { default: { requests_per_minute: 10000000, tokens_per_minute: 10000000000 } }
storage: { queue: postgres }
providers:
  bench: { adapter: openai_compatible, base_url: "${upstream}/v1" }
models:
  - id: bench
    name: Bench
    type: chat
    capabilities: [chat, streaming]
    limits: { context_tokens: 128000, max_output_tokens: 4096 }
    upstreams: [{ provider: bench, model: bench }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: bench, billing_type: token, input_price: "0.15", output_price: "0.60", unit: 1M tokens }
`;
}
