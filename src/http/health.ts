import { VERSION } from "../platform/telemetry/version.ts";
import { sendJson } from "./exchange.ts";

export interface HealthCheck {
  ok: boolean;
  [detail: string]: unknown;
}

/** The checks that a node must pass before it takes traffic, by name; each has its own time limit. */
export type Readiness = () => Promise<Record<string, HealthCheck>>;

export interface ProbeDeps {
  readonly readiness: Readiness;
  /** Why this node accepts no requests now, whatever its parts report; null when it does. */
  notReadyReason(): string | null;
}

/** Answers a probe of an orchestrator or load balancer. */
export type HealthProbe = () => Response | Promise<Response>;

/** GET /healthz: the process listens, and which build it is. */
export function healthz(): HealthProbe {
  const body = JSON.stringify({ status: "ok", version: VERSION });
  return () => sendJson(body);
}

/** GET /readyz: 200 when all checks pass, else 503 with the reasons. */
export function readyz({ readiness, notReadyReason }: ProbeDeps): HealthProbe {
  return async function readyz() {
    const checks = await readiness();
    const reason = notReadyReason();
    if (reason !== null) checks.service = { ok: false, reason };
    const ready = Object.values(checks).every((check) => check.ok);
    return sendJson(
      JSON.stringify({ status: ready ? "ready" : "not ready", checks }),
      ready ? 200 : 503,
    );
  };
}
