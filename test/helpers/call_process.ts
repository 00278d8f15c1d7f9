import assert from "node:assert/strict";
import type { Json } from "./chat_gateway.ts";

/** The JSON that a gateway process answers, which must be a success. POSTs where there is a body. */
export async function callProcess(
  { address }: { address: string },
  token: string,
  path: string,
  body?: unknown,
): Promise<Json> {
  const res = await fetch(address + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await res.json();
  assert.ok(res.ok, JSON.stringify(answer));
  return answer;
}
