import type { World } from "./world.ts";

/** What the gateway says, as its API shows it. */
export interface Receipt {
  id: string;
  request_id: string;
  client_request_id: string | null;
  model: string;
  status: "open" | "settled" | "released" | "expired";
  settled: string;
  shortfall: string;
  usage: {
    input_tokens?: number;
    cached_input_tokens?: number;
    output_tokens?: number;
    reasoning_tokens?: number;
    characters?: number;
    images?: number;
    seconds?: number | string;
  } | null;
}

export interface Task {
  id: string;
  type: "image" | "video" | "speech";
  model: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
  output: { url: string; bytes: number; file_id: string; mime_type: string }[];
  charge: Receipt;
  error: { code: string; message: string } | null;
  request_id: string;
  client_request_id: string;
}

export interface Delivery {
  id: string;
  event: { id: string; type: string; task_id: string | null };
  endpoint: string | null;
  url: string;
  status: "pending" | "delivered" | "failed";
  reason: string | null;
  attempt_count: number;
}

/** A row of the request log. */
export interface LoggedRequest {
  id: string;
  status: number;
  client_request_id: string | null;
}

export interface Records {
  receipts: Map<string | null, Receipt[]>;
  tasks: Task[];
  deliveries: Delivery[];
  outputFiles: { id: string }[];
  requests: Map<string, LoggedRequest>;
  balance: { available_balance: string; frozen_balance: string };
}

/** All pages of a list. */
async function listed<T extends { id: string }>(
  { call }: World,
  key: string,
  path: string,
): Promise<T[]> {
  const all: T[] = [];
  for (let after = "";;) {
    const { json } = await call(`${path}limit=100&order=asc${after}`, key);
    if (!Array.isArray(json.data)) throw new Error(`${path}: ${JSON.stringify(json)}`);
    all.push(...json.data);
    if (!json.has_more) return all;
    after = `&after=${json.last_id}`;
  }
}

/** Everything that the API tells of one account. */
export async function readRecords(world: World, key: string): Promise<Records> {
  const receipts = await listed<Receipt>(world, key, "/v1/usage?");
  return {
    receipts: Map.groupBy(receipts, (receipt) => receipt.client_request_id),
    deliveries: await listed<Delivery>(world, key, "/v1/webhook_deliveries?"),
    requests: new Map(
      (await listed<LoggedRequest>(world, key, "/v1/requests?")).map((one) => [one.id, one]),
    ),
    balance: (await world.call("/v1/balance", key)).json,
    ...await readOutputs(world, key),
  };
}

/** Tasks, and the files that came of them. */
export async function readOutputs(
  world: World,
  key: string,
): Promise<Pick<Records, "tasks" | "outputFiles">> {
  return {
    tasks: await listed<Task>(world, key, "/v1/tasks?"),
    outputFiles: await listed<{ id: string }>(world, key, "/v1/files?purpose=output&"),
  };
}
