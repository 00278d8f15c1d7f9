import { z } from "zod";
import { parseStored, StoredJsonError } from "../../lib/stored_json.ts";

/**
 * Events that an endpoint may ask for: of tasks, and of background responses, which have the names that OpenAI gives
 * them. `webhook.test` is sent on request, to try an endpoint.
 */
export const EVENT_TYPES = [
  "task.succeeded",
  "task.failed",
  "task.cancelled",
  "task.expired",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The payload's `data`; the shape is published in schemas/webhook_event.schema.json. */
export interface EventData {
  /** Of a response. */
  readonly id?: string | undefined;
  readonly task_id: string;
  readonly status: string;
  /** As the task shows its outputs. */
  readonly output: readonly unknown[];
}

const storedEventData: z.ZodType<EventData> = z.looseObject({
  id: z.string().optional(),
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
  readonly type: EventType;
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

/**
 * The body that is sent: composed from stored text, so that every attempt sends the same bytes. An event of a response
 * also has the fields that OpenAI's libraries know.
 */
export function renderPayload({ id, type, created, data }: StoredEvent): string {
  const openai = type.startsWith("response.") ? `"object":"event","created_at":${created},` : "";
  return `{"id":${JSON.stringify(id)},"type":${
    JSON.stringify(type)
  },"created":${created},${openai}"data":${data}}`;
}

/** Deliveries of an account to one host share a destination, with its slots and circuit breaker. */
export function destinationOf(account: string, url: string): string {
  return `${account}/${hostOf(url)}`;
}

/** With the port. Empty for an invalid URL, whose deliveries fail when they are sent. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
