import { callAdminApi } from "./client.ts";
import { type Command, optionText, table } from "./command.ts";

interface Upstream {
  provider: string;
  upstream_model: string;
  state: string | null;
  attempts: number;
  success_rate: number | null;
  latency_ms: { p50: number; p95: number } | null;
  cost: string;
  currency: string;
}

const COLUMNS = ["UPSTREAM", "BREAKER", "ATTEMPTS", "SUCCESS", "P50 MS", "P95 MS", "COST"];

export const upstreamList: Command = {
  usage: "upstream list [--window <15m|1h|6h|24h>]",
  summary: "Show success, latency and cost of every upstream in the last hour, or another window",
  endpoints: ["GET /admin/v1/upstreams"],
  options: { window: { type: "string", summary: "15m, 1h, 6h or 24h" } },
  async run(terminal, _args, options) {
    const window = optionText(options, "window");
    const query = window === undefined ? "" : `?window=${encodeURIComponent(window)}`;
    const list = await callAdminApi<{ data: Upstream[] }>(terminal, "GET", `/upstreams${query}`);
    terminal.print(list, table([COLUMNS, ...list.data.map(toLine)]));
    return 0;
  },
};

function toLine(upstream: Upstream): string[] {
  const { success_rate: rate, latency_ms: latency } = upstream;
  return [
    `${upstream.provider}/${upstream.upstream_model}`,
    upstream.state ?? "removed",
    String(upstream.attempts),
    rate === null ? "" : `${(rate * 100).toFixed(1)} %`,
    latency === null ? "" : String(latency.p50),
    latency === null ? "" : String(latency.p95),
    `${upstream.cost} ${upstream.currency}`,
  ];
}
