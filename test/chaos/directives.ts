import type { Random } from "../fuzz/random.ts";
import type { FaultKind } from "./options.ts";

/** What an upstream does wrong, by fault and by what is asked of it, in the simulator's words. */
const CHAT: Partial<Record<FaultKind, readonly string[]>> = {
  upstream_error: ["status=500", "status=503", "status=429", "error=4"],
  upstream_hang: ["hang", "hang=4"],
  upstream_cut: ["cut=5", "truncate=4", "garbage=3"],
  upstream_slow: ["latency=1500ms", "pace=90ms"],
  no_usage: ["no_usage"],
};
const JOB: Partial<Record<FaultKind, readonly string[]>> = {
  upstream_error: ["status=500", "status=503", "fail_at=50", "poll_status=500 poll_fails=2"],
  upstream_hang: ["stuck=50"],
  upstream_slow: ["seconds=5", "latency=2s", "seconds=3 state=waiting"],
  no_usage: ["no_usage"],
  lost_reply: ["cut", "truncate", "garbage", "latency=6s"],
  output: ["output=cut", "output=missing", "output=garbage", "output=empty", "outputs=1"],
};
const SPEECH: Partial<Record<FaultKind, readonly string[]>> = {
  upstream_error: ["status=500", "status=429"],
  upstream_hang: ["hang"],
  upstream_cut: ["cut", "truncate"],
  upstream_slow: ["latency=2s"],
};

/** One misbehaviour of those that the run allows; empty where it allows none. */
export function drawDirective(
  random: Random,
  what: "chat" | "job" | "speech",
  faults: ReadonlySet<FaultKind>,
): string {
  const all = { chat: CHAT, job: JOB, speech: SPEECH }[what];
  const allowed = Object.entries(all).filter(([kind]) => faults.has(kind as FaultKind));
  return allowed.length === 0 ? "" : random.pick(random.pick(allowed)[1]);
}
