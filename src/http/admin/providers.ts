import type { ProviderTestRequest } from "../../../schemas/requests.ts";
import { writeAudit } from "../../domain/audit/audit.ts";
import { actorOf } from "./actor.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { testProvider } from "../../upstream/test_provider.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/providers: every provider with the circuit breaker state of its upstreams. */
export function listProviders({ upstreams }: RouteDeps): Endpoint {
  return function listProviders(c) {
    const { config } = c.env;
    const now = performance.now();
    const data = [...config.providers.values()].map((provider) => ({
      id: provider.id,
      object: "provider",
      adapter: provider.adapter,
      on: provider.on,
      upstreams: [...config.models.values()].flatMap((model) =>
        model.upstreams.filter((upstream) => upstream.provider === provider.id).map((upstream) => {
          const { openUntil, ...health } = upstreams.getHealth(upstream);
          const retryInSeconds = health.state === "open"
            ? Math.max(0, Math.ceil((openUntil - now) / 1000))
            : 0;
          return {
            model: model.id,
            upstream_model: upstream.model,
            ...health,
            retry_in_seconds: retryInSeconds,
          };
        })
      ),
    }));
    return sendJson(JSON.stringify({ object: "list", data }));
  };
}

/** POST /admin/v1/providers/{id}/test: one small request, and what came back. */
export function testProviderEndpoint(
  { upstreams, database }: RouteDeps,
): BodyEndpoint<ProviderTestRequest> {
  return async function testProviderEndpoint(c, { model }) {
    const provider = c.req.param("id") ?? "";
    const { signal } = c.req.raw;
    const test = await testProvider(upstreams, c.env.config, { provider, model, signal });
    c.env.upstreamMs = test.duration_ms;
    // The call costs money.
    await writeAudit(database.sql, actorOf(c), { action: "provider.test", subject: provider });
    return sendJson(JSON.stringify(test));
  };
}
