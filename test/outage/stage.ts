import { join } from "node:path";
import { startPostgres } from "../../scripts/postgres.ts";
import { sleep } from "../../src/lib/timers.ts";
import { startProcess } from "../helpers/gateway_process.ts";
import { freePort } from "../../scripts/free_port.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const [ADMIN_TOKEN, METRICS_TOKEN] = ["operator-token-0123456789", "metrics-token-0123456789"];
const CHATS_PER_SECOND = 5;

/** How a provider behaves. */
export type Behaviour = "fine" | "rejects the key" | "slow";

export interface Provider extends AsyncDisposable {
  readonly url: string;
  behaviour: Behaviour;
}

/** Answers chats as OpenAI does. A slow one takes longer than the gateway waits. */
export function startProvider(): Provider {
  const stopping = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stopping.signal, onListen() {} },
    async (request) => {
      await request.body?.cancel();
      if (provider.behaviour === "rejects the key") {
        const error = { message: "Incorrect API key provided.", code: "invalid_api_key" };
        return Response.json({ error }, { status: 401 });
      }
      await sleep(provider.behaviour === "slow" ? 8_000 : 50);
      const message = { role: "assistant", content: "Yes." };
      return Response.json({
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
      });
    },
  );
  const provider: Provider = {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    behaviour: "fine",
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.finished;
    },
  };
  return provider;
}

export function gatewayConfig(alpha: string, beta: string): string {
  return `limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
storage: { queue: postgres }
providers:
  alpha: { adapter: openai_compatible, base_url: "${alpha}", api_key: "\${KEY:-sk-alpha-0123456789}", timeout_seconds: 3 }
  beta: { adapter: openai_compatible, base_url: "${beta}", api_key: "\${KEY:-sk-beta-0123456789}", timeout_seconds: 3 }
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat]
    limits: { max_output_tokens: 100 }
    upstreams:
      - { provider: alpha, model: large, priority: 0, cost: { price: "0.001", unit: call } }
      - { provider: beta, model: large, priority: 1, cost: { price: "0.002", unit: call } }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: talk, billing_type: per_call, price: "0.01", unit: call }]
`;
}

/** A gateway as an operator runs it: Postgres, two providers, Prometheus with the alert rules, and clients. */
export async function openStage() {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const [alpha, beta] = [parts.use(startProvider()), parts.use(startProvider())];
  const folder = await Deno.makeTempDir({ prefix: "tollgate-outage-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  const configFile = join(folder, "gateway.yaml");
  await Deno.writeTextFile(configFile, gatewayConfig(alpha.url, beta.url));
  const gateway = parts.use(startProcess({
    ...{ ADMIN_TOKEN, METRICS_TOKEN, DATABASE_URL: postgres.url, GATEWAY_CONFIG: configFile },
    DATA_DIR: folder,
  }));
  await gateway.says(/listens on/);
  const prometheus = parts.use(await startPrometheus(folder, gateway.address));
  const clients = parts.use(startClients(gateway.address, await createKey(gateway.address)));
  const closing = parts.move();
  return {
    ...{ postgres, alpha, beta, configFile, gateway, prometheus, clients },
    /** Runs a command of the gateway's command line. */
    async run(...args: string[]): Promise<string> {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "src/cli/main.ts", ...args],
        cwd: ROOT,
        env: {
          NO_COLOR: "1",
          ADMIN_TOKEN,
          GATEWAY_URL: gateway.address,
          GATEWAY_CONFIG: configFile,
        },
      }).output();
      return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    },
    async metrics(): Promise<string[]> {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
      return (await (await fetch(`${gateway.address}/metrics`, { headers })).text()).split("\n");
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

async function startPrometheus(folder: string, gateway: string) {
  const port = freePort();
  const config = {
    global: { scrape_interval: "2s", evaluation_interval: "2s" },
    rule_files: [join(ROOT, "deploy/prometheus/alerts.yaml")],
    scrape_configs: [{
      job_name: "gateway",
      authorization: { credentials: METRICS_TOKEN },
      static_configs: [{ targets: [new URL(gateway).host] }],
    }],
  };
  const file = join(folder, "prometheus.yaml");
  await Deno.writeTextFile(file, JSON.stringify(config));
  const child = new Deno.Command("prometheus", {
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "tsdb")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    /** Alerts that are pending or firing, with their summary. */
    async alerts(): Promise<string[]> {
      const res = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`);
      const { data } = await res.json();
      return data.alerts.map((
        { state, labels, annotations }: {
          state: string;
          labels: { alertname: string };
          annotations: { summary: string };
        },
      ) => `${labels.alertname} (${state}): ${annotations.summary}`);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function createKey(address: string): Promise<string> {
  const post = async (path: string, body: unknown) => {
    const res = await fetch(`${address}/admin/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await res.json();
  };
  const { id } = await post("/accounts", { name: "customer" });
  await post(`/accounts/${id}/credits`, { kind: "cash", amount: "1000", reference: "start" });
  return (await post(`/accounts/${id}/keys`, { name: "app" })).key;
}

/** Sends chats at a steady pace and counts the statuses of the answers. */
function startClients(address: string, key: string) {
  let counts: Record<string, number> = {};
  const underWay = new Set<Promise<void>>();
  const ask = async () => {
    const res = await fetch(`${address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "talk", messages: [{ role: "user", content: "Is it on?" }] }),
    });
    await res.body?.cancel();
    counts[res.status] = (counts[res.status] ?? 0) + 1;
  };
  const timer = setInterval(() => {
    const asked = ask().finally(() => underWay.delete(asked));
    underWay.add(asked);
  }, 1000 / CHATS_PER_SECOND);
  return {
    /** Statuses since the last call. */
    take(): Record<string, number> {
      const seen = counts;
      counts = {};
      return seen;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
