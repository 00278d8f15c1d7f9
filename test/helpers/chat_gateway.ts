import assert from "node:assert/strict";
import { openGateway, type TestGateway, type TestGatewayOptions } from "./open_gateway.ts";

/** An answer, looked at field by field. */
// deno-lint-ignore no-explicit-any
export type Json = any;

export interface ChatGateway extends TestGateway {
  /** Sends a chat request; `content` is the one user message unless `messages` are given. */
  chat(
    model: string,
    content: string,
    more?: Record<string, unknown>,
    init?: RequestInit,
  ): Promise<Response>;
  balance(): Promise<{ available: string; frozen: string }>;
  credit(amount: string): Promise<void>;
  receipt(response: Response): Promise<Json>;
  /** Checks the books; fails with what is wrong. */
  verify(): Promise<void>;
}

const CONFIG = new URL("./chat_config.yaml", import.meta.url);

/** A gateway with chat models on the simulator, and an account with money. */
export async function openChatGateway(
  options:
    & { cash?: string; config?: string }
    & Pick<
      TestGatewayOptions,
      "beside" | "environment" | "resolve" | "timing" | "simulator" | "settings" | "store"
    > = {},
): Promise<ChatGateway> {
  const gateway = await openGateway({
    resolve: options.resolve,
    config: options.config ?? await Deno.readTextFile(CONFIG),
    timing: options.timing,
    simulator: options.simulator,
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.beside === undefined ? {} : { beside: options.beside }),
    ...(options.store === undefined ? {} : { store: options.store }),
  });
  let credits = 0;
  const chatGateway: ChatGateway = {
    ...gateway,
    chat: (model, content, more = {}, init = {}) =>
      gateway.fetch("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content }], ...more }),
        ...init,
      }),
    async balance() {
      const { available_balance, frozen_balance } = await (await gateway.get("/v1/balance")).json();
      return { available: available_balance, frozen: frozen_balance };
    },
    async credit(amount) {
      const res = await gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
        kind: "cash",
        amount,
        reference: `c${credits++}`,
      });
      assert.equal(res.status, 201, await res.text());
    },
    async receipt(response) {
      const res = await gateway.get(`/v1/usage/${response.headers.get("x-request-id")}`);
      assert.equal(res.status, 200);
      return await res.json();
    },
    async verify() {
      const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
      assert.ok(ok, JSON.stringify(checks));
    },
  };
  if (options.cash !== "0" && options.beside === undefined) {
    await chatGateway.credit(options.cash ?? "100");
  }
  return chatGateway;
}

/** The events of a stream, with `[DONE]` as the text it is. */
export async function eventsOf(response: Response): Promise<Json[]> {
  const text = await response.text();
  return text.split("\n\n").filter((event) => event.startsWith("data: ")).map((event) => {
    const data = event.slice(6);
    return data === "[DONE]" ? data : JSON.parse(data);
  });
}

export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 10,
): Promise<void> {
  for (let waited = 0; waited < seconds * 1000; waited += 20) {
    if (await holds()) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  assert.fail(`never happened: ${what}`);
}
