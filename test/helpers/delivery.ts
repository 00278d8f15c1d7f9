import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { Outbound } from "../../src/platform/outbound/safe_fetch.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { enqueueEvent } from "./enqueue_event.ts";
import { createEndpoint, type EndpointFields } from "../../src/domain/webhooks/endpoints.ts";
import type { NewEvent } from "../../src/domain/webhooks/event.ts";
import { openSecretBox } from "../../src/domain/webhooks/secret_box.ts";
import { revealSecret } from "../../src/domain/webhooks/secrets.ts";
import { deliveryWorker, type Sender, type SenderDeps } from "../../src/domain/webhooks/sender.ts";
import { freshDatabase } from "./fresh_database.ts";
import { recordLog } from "./logs.ts";

export interface DeliveryOptions {
  retrySeconds?: number[];
  timeoutSeconds?: number;
  disableAfterDays?: number;
  allowPrivate?: boolean;
  /** The operator's key, when secrets are to be sealed. */
  secretsKey?: string;
  deps?: Partial<SenderDeps>;
  /** A database of the test's own; it disposes of it. */
  database?: Database;
}

/** The sender of events on a database of its own, with the plainest of queues. */
export interface Delivery extends AsyncDisposable {
  readonly database: Database;
  readonly account: string;
  readonly sender: Sender;
  readonly outcomes: string[];
  readonly logged: string[];
  endpoint(fields: EndpointFields): Promise<{ id: string; secret: string }>;
  /** The account's own secret. */
  secret(): Promise<string>;
  /** Ends a task; the result is its event's deliveries. */
  finish(more?: Partial<NewEvent>): Promise<string[]>;
  /** Steps whatever is due, once. */
  sweep(): Promise<number>;
  close(): Promise<void>;
}

let tasks = 0;

export async function openDelivery(options: DeliveryOptions = {}): Promise<Delivery> {
  await using parts = new AsyncDisposableStack();
  const database = options.database ??
    parts.use(await parts.use(await freshDatabase()).open());
  const { sql } = database;
  const secretBox = openSecretBox(options.secretsKey);
  const { id: account } = await createAccount(sql, { name: "receiver" });
  const outbound = parts.use(new Outbound());
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const outcomes: string[] = [];
  const logged: string[] = [];
  const policy = { allowPrivate: options.allowPrivate ?? true };
  const sender = parts.use(deliveryWorker({
    sql,
    secretBox,
    post: (request) => outbound.fetch(request, policy),
    config: () => ({
      webhooks: {
        retrySeconds: options.retrySeconds ?? [0, 0, 0, 0, 0],
        timeoutSeconds: options.timeoutSeconds ?? 5,
        disableAfterDays: options.disableAfterDays ?? 5,
      },
      storage: { outputs: { urlHours: 24, keepDays: 7 } } as never,
    }),
    renewOutput: (output) => output,
    notify({ id }, delayMs) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        void sender.step(id);
      }, delayMs);
      timers.add(timer);
    },
    onAttempt: (outcome) => outcomes.push(outcome),
    log: recordLog((level, message, fields) =>
      logged.push(`${level} ${message} ${JSON.stringify(fields)}`)
    ),
    ...options.deps,
  }));
  parts.defer(() => timers.forEach((timer) => clearTimeout(timer)));
  const closing = parts.move();
  const step = (ids: readonly string[]) => Promise.all(ids.map((id) => sender.step(id)));
  return {
    database,
    account,
    sender,
    outcomes,
    logged,
    async endpoint(fields) {
      const { id } = await createEndpoint(sql, secretBox, account, fields);
      return { id, secret: (await revealSecret(sql, secretBox, { account, endpoint: id })).secret };
    },
    secret: async () => (await revealSecret(sql, secretBox, { account, endpoint: null })).secret,
    async finish(more = {}) {
      const taskId = `task_${++tasks}_${crypto.randomUUID().slice(0, 8)}`;
      const data = { task_id: taskId, status: "succeeded", output: [] };
      const made = await sql.begin((tx) =>
        enqueueEvent(tx, {
          account,
          taskId,
          type: "task.succeeded",
          callbackUrl: null,
          data,
          ...more,
        })
      );
      const ids = made.map(({ id }) => id);
      void step(ids);
      return ids;
    },
    async sweep() {
      const ids = await sender.due(200);
      await step(ids);
      return ids.length;
    },
    close: () => closing.disposeAsync(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

export interface DeliveryRow {
  state: string;
  reason: string | null;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  /** Seconds until it is looked at again. */
  wait: number | null;
}

export async function deliveryRow(
  { database: { sql } }: Delivery,
  id: string,
): Promise<DeliveryRow> {
  const [row] = await sql<[DeliveryRow]>`
    select state, reason, attempts, last_status, last_error,
           extract(epoch from wake_at - now())::float8 as wait
      from webhook_delivery where id = ${id}`;
  return row;
}
