import assert from "node:assert/strict";
import { join } from "node:path";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { startChatProcess } from "../helpers/chat_process.ts";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { openOwnPostgres, type OwnPostgres } from "../helpers/own_postgres.ts";

const CONFIG = new URL("../helpers/chat_config.yaml", import.meta.url);
/** Only a server can go away by itself. */
const ON_SERVER = { ignore: Deno.env.get("TEST_STORE") === "embedded" };

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

async function openChat({ store }: OwnPostgres) {
  const gateway = await openGateway({ store, config: await Deno.readTextFile(CONFIG) });
  const credit = { kind: "cash", amount: "100", reference: "start" };
  const res = await gateway.admin("POST", `/accounts/${gateway.account}/credits`, credit);
  assert.equal(res.status, 201, await res.text());
  const chat = (model: string, content: string, more: Record<string, unknown> = {}) =>
    gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content }], ...more }),
    });
  return { ...gateway, chat };
}

const STREAMED = { stream: true, stream_options: { include_usage: true } };

/** What a stream tells of its usage; it must have come to its end. */
function usageOf(text: string): { completion_tokens: number } {
  assert.match(text, /data: \[DONE\]/);
  const event = text.split("\n\n").findLast((event) => event.includes('"usage":{'));
  return JSON.parse(event!.slice("data: ".length)).usage;
}

async function settled(gateway: TestGateway, id: string, seconds = 20): Promise<Json> {
  let receipt: Json;
  await until("the receipt is settled", async () => {
    const res = await gateway.get(`/v1/usage/${id}`);
    receipt = await res.json();
    return res.status === 200 && receipt.status !== "open";
  }, seconds);
  return receipt;
}

async function verify(gateway: TestGateway): Promise<void> {
  const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.ok(ok, JSON.stringify(checks));
}

Deno.test(
  "a stream that ends while the database is away is delivered, and billed whole once it is back",
  ON_SERVER,
  async () => {
    await using own = await openOwnPostgres();
    await using gateway = await openChat(own);
    const streams = await Promise.all(
      [40, 60, 80].map((tokens) =>
        gateway.chat("slow", `Go [[simulate: tokens=${tokens}]]`, STREAMED)
      ),
    );
    await own.server.kill();
    const texts = await Promise.all(streams.map((stream) => stream.text()));
    const usages = texts.map(usageOf);
    assert.deepEqual(usages.map(({ completion_tokens }) => completion_tokens), [40, 60, 80]);
    await wait(4_000);
    await own.server.restart();

    for (const [at, stream] of streams.entries()) {
      const receipt = await settled(gateway, stream.headers.get("x-request-id")!);
      const tokens = usages[at]!.completion_tokens;
      assert.deepEqual(
        [receipt.status, receipt.usage.output_tokens, receipt.usage.estimated, receipt.settled],
        ["settled", tokens, undefined, `0.0${tokens / 10}`],
      );
    }
    const { data } = await (await gateway.get("/v1/usage")).json();
    assert.equal(data.length, 3);
    const balance = await (await gateway.get("/v1/balance")).json();
    assert.deepEqual([balance.available_balance, balance.frozen_balance], ["99.82", "0.00"]);
    await verify(gateway);
    assert.match(gateway.logged(), /settlements completed after the database was away/);
  },
);

Deno.test(
  "a whole chat whose settlement meets an outage of three seconds answers 200 after it, and is billed",
  ON_SERVER,
  async () => {
    await using own = await openOwnPostgres();
    await using gateway = await openChat(own);
    const answering = gateway.chat("talk", "Go [[simulate: latency=1s tokens=50]]");
    await until("it is held", async () => {
      const [row] = await gateway.gateway.database.sql`select count(*)::int as n from hold`;
      return row!.n === 1;
    });
    await own.server.kill();
    await wait(3_000);
    await own.server.restart();
    const res = await answering;
    const answer = await res.json();
    assert.equal(res.status, 200, JSON.stringify(answer));
    // Settled before it was answered.
    const receipt = await settled(gateway, res.headers.get("x-request-id")!);
    const { prompt_tokens, completion_tokens } = answer.usage;
    assert.deepEqual(
      [receipt.status, receipt.usage.input_tokens, receipt.usage.output_tokens],
      ["settled", prompt_tokens, completion_tokens],
    );
    const { data } = await (await gateway.get("/v1/usage")).json();
    assert.equal(data.length, 1);
    const balance = await (await gateway.get("/v1/balance")).json();
    assert.equal(balance.frozen_balance, "0.00");
    await verify(gateway);
  },
);

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  Deno.test(
    `${signal} while the database is away keeps settlements on disk; the next start books them, once`,
    ON_SERVER,
    async () => {
      await using own = await openOwnPostgres();
      const { dataDir, databaseUrl } = own.store;
      const folder = join(dataDir, "settlements");
      const journals = () => {
        try {
          return [...Deno.readDirSync(folder)].map(({ name }) => name);
        } catch {
          return []; // never made
        }
      };
      let [key, id, tokens] = ["", "", 0];
      {
        await using first = await startChatProcess(dataDir, databaseUrl);
        ({ key } = await first.account("100"));
        const stream = await first.stream(key, "slow", "Go [[simulate: tokens=60]]");
        id = stream.headers.get("x-request-id")!;
        await own.server.kill();
        tokens = usageOf(await stream.text()).completion_tokens;
        // It has another name while it is written.
        const isSaved = () => journals().some((name) => name.endsWith(".jsonl"));
        if (signal === "SIGKILL") await until("it is saved", isSaved);
        first.process.signal(signal);
        const { code } = await first.process.ended;
        assert.equal(code, signal === "SIGTERM" ? 0 : 128 + 9, first.process.stderr());
      }
      await own.server.restart();
      assert.equal(journals().length, 1);
      const [name] = journals();
      const text = await Deno.readTextFile(join(folder, name!));

      const expected = ["settled", tokens, "0.06"];
      for (const round of ["first", "replayed"]) {
        await using next = await startChatProcess(dataDir, databaseUrl);
        let receipt: Json;
        await until(`settled (${round})`, async () => {
          // Before the receipt: the sweeper may have ended the hold, and the journal corrects that.
          if (journals().length > 0) return false;
          receipt = await next.get(key, `/v1/usage/${id}`);
          return receipt.status !== "open";
        }, 20);
        assert.deepEqual([receipt.status, receipt.usage.output_tokens, receipt.settled], expected);
        assert.equal((await next.get(key, "/v1/usage")).data.length, 1);
        const balance = await next.get(key, "/v1/balance");
        assert.deepEqual([balance.available_balance, balance.frozen_balance], ["99.94", "0.00"]);
        await next.verify();
        await Deno.writeTextFile(join(folder, name!), text);
      }
    },
  );
}
