import assert from "node:assert/strict";
import { auditLogged, auditRequest, auditUnnoticed } from "./audit_requests.ts";
import { auditEvent, auditSubmissions, auditTask, auditTaskRequest } from "./audit_tasks.ts";
import { ClientRecords, type Entry } from "./client_records.ts";
import { amount, isCharge, isSumOfCharges, tokenPrice, videoPrice, written } from "./exact.ts";
import { Findings } from "./findings.ts";
import type { Delivery, Receipt, Task } from "./records.ts";

/** 20 × 0.13333 + 5 × 0.0477 + 77 × 0.47771, for a thousand: 0.03968877. */
const TOKENS = { input: 20, cached: 5, output: 77 };
const USAGE = { input_tokens: 20, cached_input_tokens: 5, output_tokens: 77 };

function entryOf(more: Partial<Entry>): Entry {
  const entry = new ClientRecords().open({
    id: "c1-1",
    kind: "stream",
    account: 0,
    model: "talk",
    directive: "",
  });
  return Object.assign(entry, {
    status: 200,
    requestId: "req_1",
    end: "complete",
    tokens: TOKENS,
    ...more,
  });
}

const receiptOf = (more: Partial<Receipt> = {}): Receipt => ({
  id: "req_1",
  request_id: "req_1",
  client_request_id: "c1-1",
  model: "talk",
  status: "settled",
  settled: "0.039689",
  shortfall: "0.00",
  usage: USAGE,
  ...more,
});

function brokenBy(run: (findings: Findings) => void): string[] {
  const findings = new Findings();
  run(findings);
  return findings.violations.map(({ check }) => check);
}

const brokenOf = (entry: Partial<Entry>, receipts: Receipt[]) =>
  brokenBy((findings) => auditRequest(entryOf(entry), receipts, findings));

Deno.test("prices are exact, and a charge may differ by the rounding that is carried over", () => {
  assert.equal(written(tokenPrice(TOKENS)), "0.03968877");
  assert.equal(written(videoPrice("1.04")), "0.08");
  assert.equal(written(videoPrice(2)), "0.1014");
  assert.ok(isCharge(amount("0.039688"), tokenPrice(TOKENS)));
  assert.ok(!isCharge(amount("0.039687"), tokenPrice(TOKENS)));
  assert.ok(!isSumOfCharges(amount("0.039688"), tokenPrice(TOKENS)));
});

Deno.test("the audit finds what is wrong with a chat, and nothing where all is well", () => {
  assert.deepEqual(brokenOf({}, [receiptOf()]), []);
  assert.deepEqual(brokenOf({}, [receiptOf({ settled: "0.03", shortfall: "0.009689" })]), []);
  assert.deepEqual(brokenOf({}, []), ["one_receipt", "billed_in_full"]);
  const cut = { end: "broken", tokens: null } as const;
  assert.deepEqual(brokenOf({ ...cut, kind: "stream" }, []), []);
  assert.deepEqual(brokenOf({ ...cut, kind: "chat" }, []), ["one_receipt"]);
  const unbilled = receiptOf({ status: "expired", settled: "0.00", usage: null });
  assert.deepEqual(brokenOf({}, [unbilled]), ["billed_in_full"]);
  assert.deepEqual(brokenOf({}, [receiptOf(), unbilled]), ["no_second_receipt"]);
  assert.deepEqual(brokenOf({}, [receiptOf({ settled: "0.04" })]), [
    "exact_charge",
    "billed_in_full",
  ]);
  assert.deepEqual(brokenOf({ end: "broken", tokens: null }, [receiptOf({ status: "open" })]), [
    "hold_resolved",
  ]);
  const refused = { status: 503, end: "refused", tokens: null } as const;
  assert.deepEqual(brokenOf(refused, [receiptOf()]), ["errors_are_free"]);
  assert.deepEqual(brokenOf(refused, []), []);
  assert.deepEqual(brokenOf({ ...refused, status: 500 }, []), ["no_500"]);
  assert.deepEqual(brokenOf({ end: "silent", tokens: null }, [receiptOf()]), ["stream_ends"]);
});

const taskOf = (more: Partial<Task> = {}): Task => ({
  id: "task_1",
  type: "image",
  model: "image",
  status: "succeeded",
  output: [{ url: "", bytes: 1, file_id: "file_1", mime_type: "image/png" }],
  charge: receiptOf({ model: "image", settled: "0.0413", usage: { images: 1 } }),
  error: null,
  request_id: "req_1",
  client_request_id: "c1-1",
  ...more,
});

Deno.test("the audit finds tasks that are lost, doubled, open, wrongly charged or submitted twice", () => {
  const entry = entryOf({ kind: "image", status: 202, tasks: new Set(["task_1"]) });
  const requested = (tasks: Task[]) =>
    brokenBy((findings) => auditTaskRequest(entry, tasks, findings));
  assert.deepEqual(requested([taskOf()]), []);
  assert.deepEqual(requested([]), ["task_kept"]);
  assert.deepEqual(requested([taskOf(), taskOf({ id: "task_2" })]), ["task_kept"]);
  const alone = (task: Task) => brokenBy((findings) => auditTask(task, entry, findings));
  assert.deepEqual(alone(taskOf()), []);
  assert.deepEqual(alone(taskOf({ status: "running" })), ["task_ended", "task_charge"]);
  assert.deepEqual(alone(taskOf({ status: "failed" })), ["task_charge"]);
  const submitted = (counts: Record<string, number>) =>
    brokenBy((findings) =>
      auditSubmissions(counts, new Map([["task_1", { task: taskOf(), entry }]]), findings)
    );
  assert.deepEqual(submitted({ task_1: 1 }), []);
  assert.deepEqual(submitted({ task_1: 2 }), ["submitted_once"]);
  assert.deepEqual(submitted({ task_9: 1 }), ["submitted_once"]);
});

Deno.test("the audit finds events that are missing, doubled, undelivered or untrue", () => {
  const account = { index: 0, id: "a", key: "k", credits: [], hasEndpoint: true };
  const delivery = (more: Partial<Delivery> = {}, event = "evt_1"): Delivery => ({
    id: `dlv_${event}`,
    event: { id: event, type: "task.succeeded", task_id: "task_1" },
    endpoint: null,
    url: "",
    status: "delivered",
    reason: null,
    attempt_count: 1,
    ...more,
  });
  const seen = { taskId: "task_1", type: "task.succeeded", bodies: new Set(["{}"]) };
  const events = new Map([
    ["evt_1", { ...seen, received: 2, accepted: 1 }],
    ["evt_2", { ...seen, received: 1, accepted: 1 }],
  ]);
  const found = (...deliveries: Delivery[]) =>
    brokenBy((findings) => auditEvent(taskOf(), { account, deliveries, events }, findings));
  assert.deepEqual(found(delivery()), []);
  const spent = { status: "failed", reason: "retries_spent" } as const;
  assert.deepEqual(found(delivery({ ...spent, attempt_count: 6 })), []);
  assert.deepEqual(found(delivery({ ...spent, attempt_count: 2 })), ["one_event"]);
  assert.deepEqual(found(), ["one_event"]);
  assert.deepEqual(found(delivery(), delivery({ endpoint: "we_1" }, "evt_2")), ["one_event"]);
  assert.deepEqual(found(delivery({ status: "pending" })), ["one_event"]);
  assert.deepEqual(found(delivery({}, "evt_9")), ["event_content"]);
});

Deno.test("the audit finds answers that the request log does not have", () => {
  const logged = (status: number) =>
    new Map([["req_1", { id: "req_1", status, client_request_id: "c1-1" }]]);
  const brokenOf = (entry: Partial<Entry>, requests: ReturnType<typeof logged>) =>
    brokenBy((findings) => auditLogged(entryOf(entry), requests, findings));
  assert.deepEqual(brokenOf({}, logged(200)), []);
  assert.deepEqual(brokenOf({ status: null }, new Map()), []);
  assert.deepEqual(brokenOf({}, logged(500)), ["request_logged"]);
  assert.deepEqual(brokenOf({}, new Map()), ["request_logged"]);
});

Deno.test("the audit of an upgrade finds answers that were lost or are the gateway's own failure", () => {
  const brokenOf = (entry: Partial<Entry>) =>
    brokenBy((findings) => auditUnnoticed(entryOf(entry), findings));
  assert.deepEqual(brokenOf({}), []);
  assert.deepEqual(brokenOf({ status: 402, end: "refused" }), []);
  const once = { uncertain: 1 };
  assert.deepEqual(brokenOf({ ...once, status: 503, code: "upstream_timeout" }), []);
  assert.deepEqual(brokenOf({ ...once, status: 503, code: "storage_unavailable" }), [
    "upgrade_unnoticed",
  ]);
  assert.deepEqual(brokenOf({ ...once, status: null, end: "unknown" }), ["upgrade_unnoticed"]);
  assert.deepEqual(brokenOf({ ...once, end: "broken" }), ["upgrade_unnoticed"]);
});
