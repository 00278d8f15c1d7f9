import assert from "node:assert/strict";
import { join } from "node:path";
import { openChatGateway, until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";
import { openCollector } from "../helpers/otlp_collector.ts";
import { freePort } from "../../scripts/free_port.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const AUTHORIZATION = `Bearer ${ADMIN_TOKEN}`;
const OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";

async function openTraced() {
  const collector = openCollector();
  const gateway = await openChatGateway({ settings: { tracing: collector.settings } });
  const chat = async () => {
    const res = await gateway.chat("backed", "Hello", { stream: true }, {
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
      },
    });
    await res.text();
  };
  return {
    gateway,
    chat,
    metrics: (accept: string) =>
      gateway.fetch("/metrics", { headers: { authorization: AUTHORIZATION, accept } }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await collector[Symbol.asyncDispose]();
    },
  };
}

Deno.test("/metrics in the format of OpenMetrics has the trace of a request in the buckets of its times", async () => {
  await using traced = await openTraced();
  await traced.chat();
  let text = "";
  await until("the chat is counted", async () => {
    const res = await traced.metrics(OPEN_METRICS);
    assert.equal(
      res.headers.get("content-type"),
      "application/openmetrics-text; version=1.0.0; charset=utf-8",
    );
    text = await res.text();
    return /tollgate_upstream_seconds_bucket.* # /.test(text);
  });
  const exemplar = `# \\{trace_id="${TRACE}"\\} [\\d.e-]+ \\d+\\.\\d{3}$`;
  for (
    const series of [
      'tollgate_request_seconds_bucket\\{route="/chat/completions",method="POST",status="200",le="[^"]+"\\} 1',
      'tollgate_model_first_byte_seconds_bucket\\{le="[^"]+",model="backed"\\} 1',
      'tollgate_upstream_seconds_bucket\\{le="[^"]+",provider="sick",outcome="failed"\\} 1',
      'tollgate_upstream_seconds_bucket\\{le="[^"]+",provider="sim",outcome="ok"\\} 1',
    ]
  ) assert.match(text, new RegExp(`^${series} ${exemplar}`, "m"));
  assert.ok(text.endsWith("# EOF\n"));

  const plain = await traced.metrics("text/plain");
  assert.match(plain.headers.get("content-type")!, /^text\/plain; version=0\.0\.4/);
  assert.doesNotMatch(await plain.text(), /trace_id|# EOF/);
});

async function hasPrometheus(): Promise<boolean> {
  try {
    return (await new Deno.Command("prometheus", { args: ["--version"] }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "Prometheus scrapes the format of OpenMetrics, and finds the trace of a request",
  ignore: !await hasPrometheus(),
  async fn() {
    await using traced = await openTraced();
    await traced.chat();
    const folder = await Deno.makeTempDir();
    const port = freePort();
    const file = join(folder, "prometheus.yaml");
    const scrape = {
      job_name: "gateway",
      authorization: { credentials: ADMIN_TOKEN },
      static_configs: [{ targets: [new URL(traced.gateway.address).host] }],
    };
    await Deno.writeTextFile(
      file,
      JSON.stringify({ global: { scrape_interval: "1s" }, scrape_configs: [scrape] }),
    );
    const prometheus = new Deno.Command("prometheus", {
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, "tsdb")}`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--enable-feature=exemplar-storage",
      ],
      stdout: "null",
      stderr: "null",
    }).spawn();
    const ask = async (path: string) => {
      const res = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => null);
      return res === null ? "" : await res.text();
    };
    try {
      const query = "query_exemplars?query=tollgate_request_seconds_bucket&start=0&end=99999999999";
      await until("the exemplar is stored", async () => (await ask(query)).includes(TRACE), 30);
      assert.match(await ask("targets"), /"health":"up"/);
      assert.match(await ask("query?query=tollgate_info"), /config_version/);
    } finally {
      prometheus.kill("SIGTERM");
      await prometheus.status;
      await Deno.remove(folder, { recursive: true });
    }
  },
});
