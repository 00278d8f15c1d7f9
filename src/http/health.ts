import { type HttpExchange, sendJson } from "./exchange.ts";

export interface HealthCheck {
  ok: boolean;
  [detail: string]: unknown;
}

/** The checks that a node must pass before it takes traffic, by name; each has its own time limit. */
export type Readiness = () => Promise<Record<string, HealthCheck>>;

/** GET /healthz: the process listens. */
export function healthz(exchange: HttpExchange): Response {
  exchange.route = "/healthz";
  return sendJson('{"status":"ok"}');
}

/** GET /readyz: 200 when all checks pass, else 503 with the reasons. */
export async function readyz(
  exchange: HttpExchange,
  readiness: Readiness,
  notReadyReason: string | null,
): Promise<Response> {
  exchange.route = "/readyz";
  const checks = await readiness();
  if (notReadyReason !== null) checks.service = { ok: false, reason: notReadyReason };
  const ready = Object.values(checks).every((check) => check.ok);
  return sendJson(
    JSON.stringify({ status: ready ? "ready" : "not ready", checks }),
    ready ? 200 : 503,
  );
}
