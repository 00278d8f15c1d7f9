import { type HttpExchange, sendJson } from "./exchange.ts";

export interface HealthCheck {
  ok: boolean;
  [detail: string]: unknown;
}

/** What must be good before this node takes traffic, by name; each answers within its own time limit. */
export type Readiness = () => Promise<Record<string, HealthCheck>>;

/** GET /healthz: the process lives and listens. */
export function healthz(exchange: HttpExchange): Response {
  exchange.route = "/healthz";
  return sendJson('{"status":"ok"}');
}

/** GET /readyz: 200 when everything is good, else 503 with the reasons. */
export async function readyz(
  exchange: HttpExchange,
  readiness: Readiness,
  obstacle: string | null,
): Promise<Response> {
  exchange.route = "/readyz";
  const checks = await readiness();
  if (obstacle !== null) checks.service = { ok: false, reason: obstacle };
  const ready = Object.values(checks).every((check) => check.ok);
  return sendJson(
    JSON.stringify({ status: ready ? "ready" : "not ready", checks }),
    ready ? 200 : 503,
  );
}
