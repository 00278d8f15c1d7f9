import { newId } from "../../lib/ids.ts";
import { hostOf, type NewEvent } from "./event.ts";

/** The queue's kind of message for deliveries. */
export const DELIVERY = "delivery";

/** The queue's `JobMessage`, repeated here because this layer cannot import it. */
export interface DeliveryMessage {
  readonly kind: typeof DELIVERY;
  readonly id: string;
}

/** The part of an event that does not come from its task's row. */
export interface EventItem {
  id: string;
  type: string;
  /** As JSON text: every attempt signs the same bytes. */
  data: string;
  /** Of the callback URL. */
  host: string;
}

export function eventItem(
  { type, data, callbackUrl }: Omit<NewEvent, "account" | "taskId">,
): EventItem {
  return {
    id: newId("evt"),
    type,
    data: JSON.stringify(data),
    host: callbackUrl === null ? "" : hostOf(callbackUrl),
  };
}
