/** Promises that the audit holds the gateway to, by the name that `--tolerate` takes. */
export const CHECKS = {
  one_receipt:
    "every answered chat and speech request has exactly one receipt, unless it is a stream that broke",
  no_second_receipt: "no request has two receipts",
  known_receipt: "every receipt belongs to a request that was sent",
  billed_in_full: "what was delivered whole is billed by the usage it told",
  exact_charge:
    "every charge is usage × price, and so is their sum for each account to the last digit",
  errors_are_free: "a request that was answered with an error is not charged",
  no_500: "no request is answered with 500",
  stream_ends: "a stream ends with [DONE] or with an error event",
  hold_resolved: "no hold is left open, nothing stays frozen",
  balance: "balance = credits − receipts",
  ledger: "ledger verify finds nothing",
  task_kept: "every accepted task exists, once per idempotency key",
  task_ended: "every task ends",
  task_charge: "a task costs what its outputs cost; one that did not succeed costs nothing",
  submitted_once: "every job was submitted upstream at most once, and for a task",
  one_event: "every ended task with a receiver has one event, delivered or exhausted",
  event_content: "an event tells the state its task has, with the same bytes on every attempt",
  outputs: "every output of a succeeded task can be downloaded",
  no_stray_output: "no output file is left without a task that lists it",
  uploads: "every accepted upload can be downloaded, unchanged",
  stays_up: "no gateway process ends by itself",
  starts: "every start succeeds, whatever the database does meanwhile",
  request_logged: "every answered request is in the request log, with its status",
  level: "memory, descriptors and the tables of open work stay level",
  upgrade_unnoticed: "during an upgrade every request is answered, and none with 5xx",
  clean_stop: "SIGTERM ends a gateway with exit code 0",
} as const;

export type CheckName = keyof typeof CHECKS;

/** What was checked how often, and what did not hold. */
export class Findings {
  readonly checked = new Map<CheckName, number>();
  readonly violations: { check: CheckName; text: string }[] = [];

  /** `text` is only asked for when the promise is broken. */
  expect(check: CheckName, holds: boolean, text: () => string): void {
    this.checked.set(check, (this.checked.get(check) ?? 0) + 1);
    if (!holds) this.violations.push({ check, text: text() });
  }

  get total(): number {
    return this.checked.values().reduce((sum, count) => sum + count, 0);
  }
}
