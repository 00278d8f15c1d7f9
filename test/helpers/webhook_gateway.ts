import { enqueueEvent } from "./enqueue_event.ts";
import { until } from "./chat_gateway.ts";
import { openGateway, type TestGateway } from "./open_gateway.ts";
import type { Receiver } from "./receiver.ts";

export const CONFIG = await Deno.readTextFile(
  new URL("./config.yaml", import.meta.url),
);
export const SETTINGS = "\nwebhooks: { retry_seconds: [0, 0], timeout_seconds: 5 }\n";
export const OPEN = `${CONFIG}${SETTINGS}outbound: { allow_private: true }\n`;

// deno-lint-ignore no-explicit-any
export type Json = any;

interface Answer {
  status: number;
  body: Json;
  res: Response;
}

export function call(
  gateway: TestGateway,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  return callWith(gateway.key, gateway, { method, path, body });
}

/** A call with the key of any account. */
export async function callWith(
  key: string,
  gateway: TestGateway,
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<Answer> {
  const res = await gateway.fetch(`/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const copy = res.clone();
  return { status: res.status, body: await copy.json(), res };
}

export async function finish(
  gateway: TestGateway,
  callbackUrl: string | null = null,
): Promise<string> {
  const taskId = `task_${crypto.randomUUID().replaceAll("-", "")}`;
  await gateway.gateway.database.sql.begin((tx) =>
    enqueueEvent(tx, {
      account: gateway.account,
      taskId,
      type: "task.succeeded",
      callbackUrl,
      data: { task_id: taskId, status: "succeeded", output: [] },
    })
  );
  return taskId;
}

/** Waits until the log has a delivery of this task (or of anything) in a state, and answers it. */
export async function logged(gateway: TestGateway, status: string, task?: string): Promise<Json> {
  let found: Json;
  const query = task === undefined ? "" : `&task=${task}`;
  await until(`a delivery is ${status}`, async () => {
    const { body } = await call(gateway, "GET", `/webhook_deliveries?status=${status}${query}`);
    found = body.data[0];
    return found !== undefined;
  }, 30);
  return found;
}

export async function statusOf(url: string): Promise<number> {
  const res = await fetch(url);
  await res.body?.cancel();
  return res.status;
}

export const open = () => openGateway({ config: OPEN });
export const addTo = async (gateway: TestGateway, receiver: Receiver, more: Json = {}) =>
  (await call(gateway, "POST", "/webhook_endpoints", { url: receiver.url, ...more })).body;
