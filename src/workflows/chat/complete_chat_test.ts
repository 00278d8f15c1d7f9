import assert from "node:assert/strict";
import type { Config, Model, Upstream } from "../../platform/config/config.ts";
import type { OpenHold } from "../../domain/ledger/hold.ts";
import type { UpstreamFailure } from "../../upstream/failure.ts";
import { type ChatCall, type ChatDeps, completeChat } from "./complete_chat.ts";

/** No more than the story touches: two events of one moment cannot be had from real parts at will. */
Deno.test("a client that leaves in the moment of the first byte pays nothing, and the upstream did not fail", async () => {
  const client = new AbortController();
  const seen: string[] = [];
  const open = { release: () => Promise.resolve(seen.push("hold released")) };
  const hold = {
    keep: () => open as unknown as OpenHold,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const deps = {
    ledger: { hold: () => Promise.resolve(hold) },
    upstreams: {
      first: () => {
        client.abort();
        return Promise.resolve({
          value: {
            first: [],
            rest: {
              // The abort has closed the connection.
              next: () => Promise.reject(new Error("Bad resource ID")),
              cancel: () => seen.push("upstream left"),
            },
          },
          upstream: {} as Upstream,
          release: (failure?: UpstreamFailure) =>
            seen.push(failure ? "failed" : "place given back"),
        });
      },
    },
  } as unknown as ChatDeps;
  const price = {
    model: "talk",
    book: "default",
    billingType: "token",
    unit: "1M tokens",
    effectiveAt: 0,
    amounts: { input_price: "1", output_price: "1" },
  };
  const call = {
    requestId: "req_1",
    clientRequestId: null,
    config: {
      plans: new Map(),
      books: new Map([["default", { id: "default", prices: new Map([["talk", [price]]]) }]]),
    } as unknown as Config,
    account: { id: "acc_1", plan: "free", priceBook: null },
    model: {
      id: "talk",
      type: "chat",
      capabilities: new Set(["chat", "streaming"]),
      limits: {},
    } as unknown as Model,
    prepared: {
      request: { model: "talk", stream: true, messages: [{ role: "user", content: "hello" }] },
      linkedImages: null,
      images: null,
      maxUsage: { input_tokens: 1, output_tokens: 1 },
    },
    signal: client.signal,
    onTokens: () => seen.push("tokens"),
  } as unknown as ChatCall;
  await assert.rejects(completeChat(deps, call), { name: "AbortError" });
  assert.deepEqual(seen, ["upstream left", "place given back", "hold released"]);
});
