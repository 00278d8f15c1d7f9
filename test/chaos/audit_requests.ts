import type { Entry } from "./client_records.ts";
import {
  amount,
  imagePrice,
  isCharge,
  speechPrice,
  tokenPrice,
  videoPrice,
  written,
} from "./exact.ts";
import type { Findings } from "./findings.ts";
import type { LoggedRequest, Receipt } from "./records.ts";

/** Chats, streams and speech: each against its receipts. */
export function auditRequest(
  entry: Entry,
  receipts: readonly Receipt[],
  findings: Findings,
): void {
  const name = () => describe(entry, receipts);
  const isAnswered = entry.status !== null && entry.status < 400;
  findings.expect("no_500", entry.status !== 500, name);
  if (entry.kind === "stream") findings.expect("stream_ends", entry.end !== "silent", name);
  findings.expect("no_second_receipt", receipts.length <= 1, name);
  // A stream that broke with its process before its first checkpoint was never written down, and is free.
  const mayBeLost = entry.kind === "stream" && entry.end === "broken";
  if (isAnswered && !mayBeLost) findings.expect("one_receipt", receipts.length >= 1, name);
  const settled = receipts.reduce((sum, { settled }) => sum + amount(settled), 0n);
  if (entry.end === "refused") findings.expect("errors_are_free", settled === 0n, name);
  for (const receipt of receipts) {
    findings.expect("hold_resolved", receipt.status !== "open", name);
    const expected = priceOf(receipt);
    findings.expect(
      "exact_charge",
      isCharge(amount(receipt.settled) + amount(receipt.shortfall), expected),
      () => `${name()}: ${receipt.settled} taken, ${written(expected)} expected`,
    );
  }
  const told = toldPrice(entry);
  if (told !== null) {
    const shortfall = receipts.reduce((sum, { shortfall }) => sum + amount(shortfall), 0n);
    findings.expect(
      "billed_in_full",
      isCharge(settled + shortfall, told),
      () => `${name()}: ${written(settled)} taken, the answer was worth ${written(told)}`,
    );
  }
}

/** An upgrade: every request had an answer that its client can rely on. What upstreams did wrong is theirs. */
export function auditUnnoticed(entry: Entry, findings: Findings): void {
  const { id, status, code, end, uncertain } = entry;
  findings.expect(
    "upgrade_unnoticed",
    uncertain === 0 || (status !== null && code?.startsWith("upstream_") === true),
    () => `${id}: ${uncertain} attempts, the last one ${status} ${code ?? ""} ${end}`,
  );
}

/** Every response against the request log. */
export function auditLogged(
  { id, status, requestId }: Entry,
  requests: ReadonlyMap<string, LoggedRequest>,
  findings: Findings,
): void {
  if (status === null || requestId === null) return;
  const row = requests.get(requestId);
  findings.expect(
    "request_logged",
    row?.status === status && row.client_request_id === id,
    () => `${id} (${requestId}): answered ${status}, logged ${row?.status ?? "nothing"}`,
  );
}

/** By what its receipt says was used. */
export function priceOf({ usage, model }: Receipt): bigint {
  if (usage === null) return 0n;
  if (model.endsWith("image")) return imagePrice(usage.images ?? 0);
  if (model.endsWith("video")) return videoPrice(usage.seconds ?? 0);
  if (model.endsWith("voice")) return speechPrice(usage.characters ?? 0);
  return tokenPrice({
    input: usage.input_tokens ?? 0,
    cached: usage.cached_input_tokens ?? 0,
    output: (usage.output_tokens ?? 0) + (usage.reasoning_tokens ?? 0),
  });
}

/** By what the client itself received; null where it did not receive all. */
function toldPrice({ kind, end, tokens, characters }: Entry): bigint | null {
  if (end !== "complete") return null;
  if (kind === "speech") return speechPrice(characters);
  return tokens === null ? null : tokenPrice(tokens);
}

function describe(entry: Entry, receipts: readonly Receipt[]): string {
  const { id, status, code, end, directive, requestId, tokens, pieces } = entry;
  const shown = receipts.map(({ status, settled, usage }) =>
    `${status} ${settled} ${JSON.stringify(usage)}`
  );
  return `${id} ${requestId ?? "no request id"} ${status} ${code ?? ""} ${end} [${directive}] ` +
    `told ${JSON.stringify(tokens)} in ${pieces} pieces, receipts: ${shown.join("; ") || "none"}`;
}
