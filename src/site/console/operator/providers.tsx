import type { BreakerHealth } from "../../../lib/breaker.ts";
import type { Model, Provider, Upstream } from "../../../platform/config/config.ts";
import type { SiteContext } from "../../context.ts";
import { Badge } from "../../parts.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { duration, plural } from "../format.ts";
import { Head, sendConsole } from "../shell.tsx";

/** GET /console/operator/providers: who answers, and how each fares on this node. */
export function providersPage({ upstreams }: ConsoleDeps) {
  return function providersPage(c: SiteContext): Response {
    const { config } = c.env;
    const now = performance.now();
    const served = [...config.providers.values()].map((provider) => ({
      provider,
      upstreams: [...config.models.values()].flatMap((model) =>
        model.upstreams.filter((upstream) => upstream.provider === provider.id)
          .map((upstream) => ({ model, upstream, health: upstreams.getHealth(upstream) }))
      ),
    }));
    const [on, off] = [
      served.filter(({ provider }) => provider.on),
      served.filter(({ provider }) => !provider.on),
    ];
    return sendConsole(
      c,
      { section: "providers", title: "Providers" },
      <>
        <Head
          title="Providers"
          note="Who answers for your models, as seen by this node. Clients never see any of it."
        />
        {on.map(({ provider, upstreams }) => (
          <ProviderCard provider={provider} upstreams={upstreams} now={now} />
        ))}
        {off.length > 0 && (
          <section class="card stack-s">
            <h2 class="card-title">Switched off</h2>
            <p class="soft">Their key is declared and empty in the environment.</p>
            <div class="row-tight">
              {off.map(({ provider: { id } }) => <Badge>{id}</Badge>)}
            </div>
          </section>
        )}
      </>,
    );
  };
}

interface Served {
  model: Model;
  upstream: Upstream;
  health: BreakerHealth & { in_flight: number };
}

function ProviderCard(
  { provider, upstreams, now }: {
    provider: Provider;
    upstreams: readonly Served[];
    now: number;
  },
) {
  const inFlight = upstreams[0]?.health.in_flight ?? 0;
  return (
    <section class="card card-flush">
      <div class="card-head">
        <div>
          <h2 class="card-title">{provider.id}</h2>
          <span class="small faint">
            adapter {provider.adapter}, {plural(inFlight, "call")} under way
            {provider.concurrencyMax !== null && ` of ${provider.concurrencyMax} at the most`}
          </span>
        </div>
      </div>
      {upstreams.length === 0
        ? <p class="card-note soft">No model uses it.</p>
        : (
          <table class="table table-cards">
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Upstream model</th>
                <th scope="col">Priority</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {upstreams.map(({ model, upstream, health }) => (
                <tr>
                  <td data-label="Model">{model.id}</td>
                  <td data-label="Upstream model" class="mono break">{upstream.model}</td>
                  <td data-label="Priority" class="numeric">
                    {upstream.priority}
                    {upstream.weight !== 1 && <span class="faint">, weight {upstream.weight}</span>}
                  </td>
                  <td data-label="State">
                    <HealthBadge health={health} now={now} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
    </section>
  );
}

function HealthBadge({ health, now }: { health: Served["health"]; now: number }) {
  if (health.state === "open") {
    const seconds = Math.max(0, Math.ceil((health.openUntil - now) / 1000));
    return <Badge kind="bad" dot>rests for {duration(seconds)}</Badge>;
  }
  if (health.state === "half_open") return <Badge kind="warn" dot>being probed</Badge>;
  return health.failures > 0
    ? <Badge kind="warn" dot>{plural(health.failures, "failure")} in a row</Badge>
    : <Badge kind="good" dot>well</Badge>;
}
