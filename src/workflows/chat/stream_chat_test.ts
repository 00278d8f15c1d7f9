import assert from "node:assert/strict";
import type { Upstream } from "../../platform/config/config.ts";
import type { UpstreamFailure } from "../../upstream/failure.ts";
import type { ChatDeps, HeldChat } from "./complete_chat.ts";
import { streamChat } from "./stream_chat.ts";
import { PRICE } from "../../../test/helpers/open_ledger.ts";

/** Fakes of no more than the function uses: real parts cannot produce these two events at the same moment. */
Deno.test("a client that disconnects with the first byte pays nothing, and the upstream did not fail", async () => {
  const client = new AbortController();
  const events: string[] = [];
  const deps = {
    upstreams: {
      callFirstAvailable: () => {
        client.abort();
        return Promise.resolve({
          value: {
            first: [],
            rest: {
              // The abort has closed the connection.
              next: () => Promise.reject(new Error("Bad resource ID")),
              cancel: () => events.push("upstream cancelled"),
            },
          },
          upstream: {} as Upstream,
          release: (failure?: UpstreamFailure) =>
            events.push(failure ? "failed" : "permit released"),
        });
      },
    },
  } as unknown as ChatDeps;
  const chat = {
    call: {
      requestId: "req_1",
      config: {},
      account: { id: "acc_1" },
      model: { id: "talk" },
      signal: client.signal,
      logged: { attempts: [], span: null },
    },
    prepared: { request: { model: "talk", stream: true } },
    hold: { release: () => Promise.resolve(events.push("hold released")) },
    reservation: { settle: () => events.push("tokens") },
  } as unknown as HeldChat;
  // Logged as a disconnect, not as an internal error.
  await assert.rejects(streamChat(deps, chat), { name: "UpstreamFailure" });
  assert.deepEqual(events, ["upstream cancelled", "permit released", "hold released"]);
});

Deno.test("a stream whose tokens cannot be counted is charged by their estimate", async () => {
  const charged: unknown[] = [];
  const tokens = { input: 7, cachedInput: 0, output: 2, reasoning: 0 };
  const deps = {
    log: { error: () => {} },
    streams: { watch: () => ({ [Symbol.dispose]() {} }) },
    upstreams: {
      callFirstAvailable: () =>
        Promise.resolve({
          value: { first: [], rest: { next: () => Promise.resolve(null), cancel() {} } },
          upstream: { cost: null } as unknown as Upstream,
          release() {},
        }),
    },
  } as unknown as ChatDeps;
  const chat = {
    call: {
      requestId: "req_1",
      config: {},
      account: { id: "acc_1" },
      model: { id: "talk" },
      requestBody: null,
      claim: null,
      signal: new AbortController().signal,
      logged: { attempts: [], span: null, beginStream() {}, endStream() {} },
      dialect: { openStream: () => ({ end: () => "" }) },
    },
    prepared: {
      request: { model: "talk", stream: true },
      imageTokensAt: () => 0,
      requestFor: () => ({ ignored: [] }),
    },
    quote: { model: "talk", kind: "text", price: PRICE },
    heading: { id: "chatcmpl-1", model: "talk", created: 0 },
    meter: {
      total: () => Promise.reject(new Error("no tokenizer")),
      soFar: () => ({ tokens, isEstimated: true }),
    },
    hold: {
      settleDelivered: ({ units }: { units: bigint }) => Promise.resolve(void charged.push(units)),
    },
    reservation: { settle() {} },
  } as unknown as HeldChat;
  const { stream } = await streamChat(deps, chat);
  await new Response(stream).text();
  assert.deepEqual(charged, [9n]);
});
