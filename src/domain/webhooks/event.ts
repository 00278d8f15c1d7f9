import { z } from "zod";
import { parseStored, StoredJsonError } from "../../lib/stored_json.ts";

/** What can happen to a task; `webhook.test` is sent when an account asks for it, and says nothing. */
export const TASK_EVENTS = [
  "task.succeeded",
  "task.failed",
  "task.cancelled",
  "task.expired",
] as const;
export type TaskEvent = (typeof TASK_EVENTS)[number];
export type EventType = TaskEvent | "webhook.test";

/** The payload's `data`; the shape is published in schemas/webhook_event.schema.json. */
export interface EventData {
  readonly task_id: string;
  readonly status: string;
  /** As the task shows its outputs. */
  readonly output: readonly unknown[];
}

const storedEventData: z.ZodType<EventData> = z.looseObject({
  task_id: z.string(),
  status: z.string(),
  output: z.array(z.unknown()).default([]),
});

/** Parses the stored `data` of an event; throws a `StoredJsonError` where it is not readable. */
export function parseEventData(stored: string): EventData {
  let json: unknown;
  try {
    json = JSON.parse(stored);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StoredJsonError("Cannot read stored event data: it is not JSON");
  }
  return parseStored(storedEventData, "event data", json);
}

/** A new event: a task has ended. */
export interface NewEvent {
  readonly account: string;
  readonly taskId: string;
  readonly type: TaskEvent;
  /** The request's own; null: the account's endpoints. */
  readonly callbackUrl: string | null;
  readonly data: EventData;
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  /** Unix seconds. */
  readonly created: number;
  /** `data` as JSON text. */
  readonly data: string;
}

/** What is sent. Put together from stored text, so that every attempt sends the same bytes. */
export function renderPayload({ id, type, created, data }: StoredEvent): string {
  return `{"id":${JSON.stringify(id)},"type":${
    JSON.stringify(type)
  },"created":${created},"data":${data}}`;
}

/** Whose receiver: an account's deliveries to one host share slots, and rest together. */
export function destinationOf(account: string, url: string): string {
  return `${account}/${hostOf(url)}`;
}

/** With the port. An address that cannot be read has none, and fails when it is called. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
