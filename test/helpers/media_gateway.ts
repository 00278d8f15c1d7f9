import assert from "node:assert/strict";
import type { Json } from "./chat_gateway.ts";
import { openGateway, type TestGateway, type TestGatewayOptions } from "./open_gateway.ts";

export interface MediaGateway extends TestGateway {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends a request that must be accepted; the result is its task. */
  submit(path: string, body: unknown, headers?: Record<string, string>): Promise<Json>;
  /** A task that is over. */
  ended(id: string, seconds?: number): Promise<Json>;
  task(id: string): Promise<Json>;
  upload(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  balance(): Promise<{ available: string; frozen: string }>;
  credit(amount: string): Promise<void>;
  count(table: string): Promise<number>;
  /** Checks the books; fails with what is wrong. */
  verify(): Promise<void>;
}

const CONFIG = new URL("./media_config.yaml", import.meta.url);

/** A gateway with models that make files, on the simulator, and an account with money. */
export async function openMediaGateway(
  options: TestGatewayOptions & { cash?: string } = {},
): Promise<MediaGateway> {
  const gateway = await openGateway({
    ...options,
    config: options.config ?? await Deno.readTextFile(CONFIG),
  });
  let credits = 0;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    gateway.fetch(path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const task = async (id: string) => {
    const res = await gateway.get(`/v1/tasks/${id}`);
    assert.equal(res.status, 200, await res.clone().text());
    return await res.json();
  };
  const media: MediaGateway = {
    ...gateway,
    post,
    task,
    async submit(path, body, headers) {
      const res = await post(path, body, headers);
      assert.equal(res.status, 202, await res.clone().text());
      return await res.json();
    },
    async ended(id, seconds = 30) {
      for (const until = Date.now() + seconds * 1000; Date.now() < until;) {
        const seen = await task(id);
        if (seen.completed_at !== null) return seen;
        await new Promise((resume) => setTimeout(resume, 30));
      }
      assert.fail(`never ended: ${JSON.stringify(await task(id))}`);
    },
    async upload(name, bytes) {
      const form = new FormData();
      form.set("purpose", "generation");
      form.set("file", new File([bytes], name));
      const res = await gateway.fetch("/v1/files", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      });
      assert.equal(res.status, 200, await res.clone().text());
      return (await res.json()).id;
    },
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
    async count(table) {
      const { sql } = gateway.gateway.database;
      const [row] = await sql<[{ n: number }]>`select count(*)::int as n from ${sql(table)}`;
      return row.n;
    },
    async verify() {
      const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
      assert.ok(ok, JSON.stringify(checks));
    },
  };
  if (options.cash !== "0" && options.beside === undefined) {
    await media.credit(options.cash ?? "100");
  }
  return media;
}
