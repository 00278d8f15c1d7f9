import type { Upstream } from "../platform/config/config.ts";

/**
 * The order in which a model's upstreams are tried: by priority, and at random by weight among equal
 * priorities, so that shares hold over many requests without shared state.
 */
export function orderUpstreams(
  upstreams: readonly Upstream[],
  random: () => number = Math.random,
): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  const order: Upstream[] = [];
  for (let from = 0; from < upstreams.length;) {
    let to = from;
    while (to < upstreams.length && upstreams[to]!.priority === upstreams[from]!.priority) to++;
    order.push(...shuffled(upstreams.slice(from, to), random));
    from = to;
  }
  return order;
}

function shuffled(equals: Upstream[], random: () => number): Upstream[] {
  const order: Upstream[] = [];
  while (equals.length > 0) {
    let point = random() * equals.reduce((sum, { weight }) => sum + weight, 0);
    const at = equals.findIndex(({ weight }) => (point -= weight) < 0);
    order.push(...equals.splice(at === -1 ? 0 : at, 1));
  }
  return order;
}
