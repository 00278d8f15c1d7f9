import { hashText } from "../lib/hash_text.ts";
import type { Upstream } from "../platform/config/config.ts";
import { upstreamName } from "./admission.ts";

/**
 * The order in which a model's upstreams are tried: by priority, and among equal priorities by a draw in proportion to
 * their weights, so that shares hold over many requests without shared state. With a `pin` the draw is the same every
 * time and on every node, and an upstream that is left out changes the place of no other.
 */
export function orderUpstreams(
  upstreams: readonly Upstream[],
  pin: number | null = null,
): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  return upstreams
    .map((upstream) => ({ upstream, turn: drawTurn(upstream, pin) }))
    .sort((a, b) => a.upstream.priority - b.upstream.priority || a.turn - b.turn)
    .map(({ upstream }) => upstream);
}

/** Exponentially distributed times: the probability that one is the first is its weight's share. */
function drawTurn(upstream: Upstream, pin: number | null): number {
  const draw = pin === null ? Math.random() : hashText(upstreamName(upstream), pin) / 2 ** 32;
  return -Math.log(1 - draw) / upstream.weight;
}
