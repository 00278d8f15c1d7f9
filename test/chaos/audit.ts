import { auditOutputs, auditUpload, strayOutputs } from "./audit_files.ts";
import { auditLogged, auditRequest, auditUnnoticed, priceOf } from "./audit_requests.ts";
import { auditEvent, auditSubmissions, auditTask, auditTaskRequest } from "./audit_tasks.ts";
import type { Account, Entry } from "./client_records.ts";
import { amount, isSumOfCharges, written } from "./exact.ts";
import { Findings } from "./findings.ts";
import { readRecords, type Records, type Task } from "./records.ts";
import type { World } from "./world.ts";

/** Holds the clients' records against what the gateway, its upstream and its receivers say. */
export async function audit(world: World, open: readonly string[]): Promise<Findings> {
  const findings = new Findings();
  const { clientRecords, receivers } = world;
  findings.expect("hold_resolved", open.length === 0, () => open.join("; "));
  const tasks = new Map<string, { task: Task; entry: Entry | undefined }>();
  for (const account of clientRecords.accounts) {
    const records = await readRecords(world, account.key);
    auditMoney(account, records, findings);
    for (const id of records.receipts.keys()) {
      findings.expect(
        "known_receipt",
        clientRecords.entries.has(id ?? ""),
        () => `receipt of ${id}`,
      );
    }
    const byRequest = Map.groupBy(records.tasks, (task) => task.client_request_id);
    for (const entry of clientRecords.entries.values()) {
      if (entry.account !== account.index) continue;
      if (isUnnoticed(world)) auditUnnoticed(entry, findings);
      if (keepsEveryRow(world)) auditLogged(entry, records.requests, findings);
      if (entry.kind === "image" || entry.kind === "video") {
        auditTaskRequest(entry, byRequest.get(entry.id) ?? [], findings);
      } else if (entry.kind !== "upload") {
        auditRequest(entry, records.receipts.get(entry.id) ?? [], findings);
      } else {
        const { file, end } = entry;
        const { address } = world.nodes[0]!;
        if (end === "complete") await auditUpload(address, account.key, file!, findings);
      }
    }
    const strays = new Set(strayOutputs(records));
    for (const { id } of records.outputFiles) {
      findings.expect(
        "no_stray_output",
        !strays.has(id),
        () => `${id} of account ${account.index}`,
      );
    }
    const byTask = Map.groupBy(records.deliveries, ({ event }) => event.task_id);
    for (const task of records.tasks) {
      tasks.set(task.id, { task, entry: clientRecords.entries.get(task.client_request_id) });
      auditTask(task, clientRecords.entries.get(task.client_request_id), findings);
      if (task.status === "succeeded") await auditOutputs(world, account.key, task, findings);
      const deliveries = byTask.get(task.id) ?? [];
      auditEvent(task, { account, deliveries, events: receivers.events }, findings);
    }
  }
  for (const [id, { bodies }] of receivers.events) {
    findings.expect("event_content", bodies.size === 1, () => `${id} came with different bodies`);
  }
  auditSubmissions(await world.submissions(), tasks, findings);
  const { json: verified } = await world.admin("/ledger/verify");
  for (const { name, ok, detail } of verified.checks) {
    findings.expect("ledger", ok, () => `${name}: ${detail}`);
  }
  await auditProcesses(world, findings);
  return findings;
}

/** An upgrade node by node leaves one that serves at any moment. */
const isUnnoticed = ({ options }: World) => options.upgradeFrom !== null && !options.isAtOnce;

/** A process that is killed loses the rows that it has not written yet. */
const keepsEveryRow = ({ options }: World) => !options.faults.has("kill");

function auditMoney(account: Account, { receipts, balance }: Records, findings: Findings): void {
  const name = `account ${account.index} (${account.id})`;
  let left = account.credits.reduce((sum, text) => sum + amount(text), 0n);
  let [charged, exact] = [0n, 0n];
  for (const receipt of [...receipts.values()].flat()) {
    left -= amount(receipt.settled);
    charged += amount(receipt.settled) + amount(receipt.shortfall);
    exact += priceOf(receipt);
  }
  findings.expect(
    "exact_charge",
    isSumOfCharges(charged, exact),
    () => `${name}: ${written(charged)} charged in all, ${written(exact)} expected`,
  );
  const has = amount(balance.available_balance) + amount(balance.frozen_balance);
  findings.expect(
    "balance",
    has === left,
    () => `${name} has ${written(has)}, credits − receipts = ${written(left)}`,
  );
  findings.expect("hold_resolved", amount(balance.frozen_balance) === 0n, () => name);
}

/** Ends every node the orderly way. After this nothing serves. */
async function auditProcesses({ nodes }: World, findings: Findings): Promise<void> {
  for (const node of nodes) {
    for (const text of node.exits) {
      findings.expect("stays_up", false, () => `${node.name}: ${text}`);
    }
    for (const text of node.failedStarts) {
      findings.expect("starts", false, () => `${node.name}: ${text}`);
    }
    for (let start = 0; start < node.starts; start++) {
      findings.expect("starts", true, () => node.name);
      findings.expect("stays_up", true, () => node.name);
    }
    const code = await node.stop();
    findings.expect("clean_stop", code === 0, () => `${node.name}: exit code ${code}`);
  }
}
