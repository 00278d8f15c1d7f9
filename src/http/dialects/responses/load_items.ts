import type { ResponsesRequest } from "../../../../schemas/requests.ts";
import type { ResponseStore, StoredResponse } from "../../../domain/responses/response_store.ts";
import { ApiError } from "../../../lib/api_error.ts";
import type { JsonFields } from "../translated.ts";
import type { PlacedItem } from "./read_items.ts";

/** The body of a stored response. */
export interface ResponseRecord {
  /** As its client got it, with what is sealed. */
  readonly response: JsonFields & { readonly output: readonly JsonFields[] };
  /** The items of its own request, without those of the responses before. */
  readonly input: readonly JsonFields[];
}

export function readRecord({ body }: StoredResponse): ResponseRecord {
  return JSON.parse(body);
}

/** The items of a request as clients may list them. */
export function withItemIds(
  responseId: string,
  input: readonly JsonFields[],
): readonly JsonFields[] {
  const base = responseId.slice("resp_".length);
  return input.map((item, at) => ({
    id: `item_${base}${String(at).padStart(3, "0")}`,
    ...item,
  }));
}

/** What a request gives the model to read. */
export interface LoadedItems {
  /** With those of the responses that it continues. */
  readonly items: readonly PlacedItem[];
  /** Its own. */
  readonly input: readonly JsonFields[];
}

export async function loadItems(
  store: ResponseStore,
  account: string,
  body: ResponsesRequest,
): Promise<LoadedItems> {
  const previous = typeof body.previous_response_id === "string"
    ? await loadPrevious(store, account, body.previous_response_id)
    : [];
  const input = typeof body.input === "string"
    ? [{ type: "message", role: "user", content: body.input }]
    : await resolveReferences(store, account, (body.input ?? []) as readonly JsonFields[]);
  return {
    items: [
      ...previous.map((item) => ({ item, path: "previous_response_id" })),
      ...input.map((item, at) => ({
        item,
        path: typeof body.input === "string" ? "input" : `input.${at}`,
      })),
    ],
    input,
  };
}

async function loadPrevious(
  store: ResponseStore,
  account: string,
  id: string,
): Promise<JsonFields[]> {
  const stored = await store.conversation(account, id);
  const [first] = stored;
  if (first === undefined) throw noResponse(id, "previous_response_id");
  if (first.previous !== null) throw noResponse(first.previous, "previous_response_id");
  requireAnswer(stored.at(-1)!);
  return stored.map(readRecord).flatMap(({ input, response }) => [...input, ...response.output]);
}

/** Only the last may be without one: those before it were continued. */
function requireAnswer({ id, task }: StoredResponse): void {
  if (task === null || task.status === "succeeded") return;
  const isOpen = task.status === "queued" || task.status === "running";
  throw new ApiError(
    "invalid_value",
    `${id} ${
      isOpen
        ? "has not ended yet: wait until it is completed"
        : "has no answer that could be continued"
    }.`,
    { param: "previous_response_id" },
  );
}

const ITEM_ID = /^[a-z]+_([0-9a-z]{26})\d{3}$/;

/** Puts the items in place that the client only names: its library knows that they are stored. */
async function resolveReferences(
  store: ResponseStore,
  account: string,
  input: readonly JsonFields[],
): Promise<JsonFields[]> {
  const records = new Map<string, ResponseRecord | null>();
  const resolved: JsonFields[] = [];
  for (const [at, item] of input.entries()) {
    if (item?.type !== "item_reference") {
      resolved.push(item);
      continue;
    }
    const id = String(item.id);
    const response = `resp_${ITEM_ID.exec(id)?.[1]}`;
    if (!records.has(response)) {
      const stored = await store.find(account, response);
      records.set(response, stored === null ? null : readRecord(stored));
    }
    const found = records.get(response)?.response.output.find((each) => each.id === id);
    if (found === undefined) throw noResponse(id, `input.${at}.id`);
    resolved.push(found);
  }
  return resolved;
}

function noResponse(id: string, param: string): ApiError {
  return new ApiError(
    "response_not_found",
    `${
      JSON.stringify(id.slice(0, 64))
    } is not stored: it was not kept (store: false), was deleted, or is too old. ` +
      "Send the items themselves.",
    { param, kind: "invalid_request" },
  );
}
