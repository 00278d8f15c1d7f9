import type { HttpExchange } from "./exchange.ts";

/** How long the gateway and the models took until the response began. The first number is without the second. */
export function serverTiming(
  { logged, upstreamMs: others }: Pick<HttpExchange, "logged" | "upstreamMs">,
  ms: number,
): string {
  const upstreamMs = (logged?.upstreamMs ?? 0) + others;
  const gateway = `gateway;dur=${(ms - upstreamMs).toFixed(1)}`;
  return upstreamMs === 0 ? gateway : `${gateway}, upstream;dur=${upstreamMs.toFixed(1)}`;
}

/** Files and pages have none. */
export function hasServerTiming(path: string): boolean {
  return path.startsWith("/v1/") || path.startsWith("/admin/v1/");
}
