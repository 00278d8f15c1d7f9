import type { Config } from "../../platform/config/config.ts";
import { upstreamName } from "../../upstream/admission.ts";
import {
  findUpstreamFigures,
  NO_FIGURES,
  type WindowName,
  WINDOWS,
} from "../../workflows/tasks/upstream_figures.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readChoice } from "../read_choice.ts";
import type { RouteDeps } from "../routes/route.ts";

export const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[];

/** GET /admin/v1/upstreams: every upstream with its success, latency and cost in a window. */
export function listUpstreams({ database, requestLog, upstreams }: RouteDeps): Endpoint {
  return async function listUpstreams(c) {
    const window = readChoice(c, "window", WINDOW_NAMES) ?? "1h";
    const { config } = c.env;
    await requestLog.flush();
    const figures = await findUpstreamFigures(database.sql, window);
    const known = configuredUpstreams(config);
    // One that was removed from the configuration may have figures all the same.
    const names = new Set([...known.keys(), ...figures.keys()]);
    const data = [...names].sort().map((name) => {
      const [provider] = name.split("/", 1) as [string];
      const { models = [], upstream } = known.get(name) ?? {};
      return {
        object: "upstream",
        provider,
        upstream_model: name.slice(provider.length + 1),
        models,
        state: upstream === undefined ? null : upstreams.getHealth(upstream).state,
        ...figures.get(name) ?? NO_FIGURES,
        currency: config.service.currency,
      };
    });
    return sendJson(JSON.stringify({ object: "list", window, data }));
  };
}

function configuredUpstreams({ models }: Config) {
  const pairs = [...models.values()].flatMap((model) =>
    model.upstreams.map((upstream) => ({ model: model.id, upstream }))
  );
  const byName = Map.groupBy(pairs, ({ upstream }) => upstreamName(upstream));
  return new Map([...byName].map(([name, group]) => [
    name,
    { models: group.map(({ model }) => model), upstream: group[0]!.upstream },
  ]));
}
