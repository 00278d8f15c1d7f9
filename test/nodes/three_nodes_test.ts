import assert from "node:assert/strict";
import { join } from "node:path";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { createKey } from "../../src/domain/accounts/api_keys.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { nodeConfig, sharedStorage } from "../helpers/node_config.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { startS3 } from "../helpers/s3_server.ts";
import { sleep } from "../../src/lib/timers.ts";
import { freePort } from "../../scripts/free_port.ts";

/** `NODES_FULL=1` runs what the release must show; otherwise the same in small. */
const FULL = Deno.env.get("NODES_FULL") === "1";
const TASKS = FULL ? 2_000 : 150;
const CHATS = FULL ? 5_000 : 400;
const CLIENTS = 8;
const ADMIN_TOKEN = "test-admin-token-0123456789";
const METERED_RATE = 600;

interface Customer {
  account: string;
  key: string;
}

async function newCustomer({ sql }: Database, plan: string, cash: string): Promise<Customer> {
  const { id: account } = await createAccount(sql, { name: "customer", plan });
  await addCredit(sql, { account, kind: "cash", amount: cash, reference: `first ${account}` });
  return { account, key: (await createKey(sql, account, "test")).key };
}

/** Calls nodes in turn. One that is away, or says so, costs another attempt elsewhere. */
class Balancer {
  readonly nodes: string[];
  #turn = 0;
  /** Attempts whose fate the client does not know. */
  unknown = 0;

  constructor(nodes: string[]) {
    this.nodes = nodes;
  }

  async call(path: string, customer: Customer, body: unknown, more: HeadersInit = {}) {
    for (let attempt = 0; attempt < 600; attempt++) {
      const node = this.nodes[this.#turn++ % this.nodes.length]!;
      try {
        const res = await fetch(node + path, {
          method: body === undefined ? "GET" : "POST",
          headers: {
            authorization: `Bearer ${customer.key}`,
            "content-type": "application/json",
            ...more,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await res.text();
        if (res.status !== 503) return { status: res.status, text };
      } catch (error) {
        if (!/refused/.test(String(error))) this.unknown++;
      }
      await sleep(50);
    }
    throw new Error(`no node answers ${path}`);
  }
}

Deno.test(
  `three nodes on one Postgres and one S3: ${TASKS} tasks and ${CHATS} chats, one node killed, another drained and restarted`,
  async () => {
    await using parts = new AsyncDisposableStack();
    const store = parts.use(await freshDatabase());
    const s3 = parts.use(await startS3());
    const receiver = parts.use(startReceiver());
    const database = parts.use(await store.open());
    const config = join(store.dataDir, "gateway.yaml");
    await Deno.writeTextFile(config, nodeConfig(sharedStorage(s3.storage)));
    const [maker, talker, metered] = await Promise.all([
      newCustomer(database, "free", "1000"),
      newCustomer(database, "free", "1000"),
      newCustomer(database, "metered", "1000"),
    ]);

    const start = async (number: number, port = String(freePort())): Promise<GatewayProcess> => {
      const node = parts.use(startProcess({
        PORT: port,
        DATABASE_URL: store.databaseUrl!,
        DATA_DIR: join(store.dataDir, `node${number}`),
        GATEWAY_CONFIG: config,
        ADMIN_TOKEN,
        LOG_LEVEL: "warn",
        ...s3.environment,
      }));
      await node.says(/listens on/, 120);
      return node;
    };
    const nodes = await Promise.all([start(1), start(2), start(3)]);
    const balancer = new Balancer(nodes.map(({ address }) => address));
    const began = performance.now();

    const taskIds = new Set<string>();
    let [submitted, talked] = [0, 0];
    const submitting = Array.from({ length: CLIENTS }, async () => {
      while (submitted < TASKS) {
        const number = ++submitted;
        const { status, text } = await balancer.call("/v1/images/generations", maker, {
          model: "image-model",
          prompt: `image ${number}`,
          callback_url: `${receiver.url}/done`,
        }, { "idempotency-key": `order-${number}` });
        assert.equal(status, 202, text);
        taskIds.add(JSON.parse(text).id);
      }
    });
    let chats = 0;
    const talking = Array.from({ length: CLIENTS }, async () => {
      while (talked < CHATS) {
        const number = ++talked;
        const { status, text } = await balancer.call("/v1/chat/completions", talker, {
          model: "talk",
          messages: [{ role: "user", content: `say ${number}` }],
        });
        assert.equal(status, 200, text);
        chats++;
      }
    });
    // A third customer asks for more than its rate on every node, from the first moment to the last.
    let [passed, isOver] = [0, false];
    const hammering = Array.from({ length: 3 }, async () => {
      while (!isOver) {
        const { status } = await balancer.call("/v1/models/talk", metered, undefined);
        if (status === 200) passed++;
        else assert.equal(status, 429);
        await sleep(2);
      }
    });

    const trouble = (async () => {
      await until("a third is under way", () => taskIds.size > TASKS / 3 && chats > CHATS / 3, 600);
      nodes[0]!.signal("SIGKILL");
      await nodes[0]!.ended;
      nodes[1]!.signal("SIGTERM");
      assert.equal((await nodes[1]!.ended).code, 0, nodes[1]!.stderr());
      nodes[1] = await start(2, new URL(nodes[1]!.address).port);
    })();
    await Promise.all([...submitting, ...talking, trouble]);
    isOver = true;
    await Promise.all(hammering);
    const minutes = (performance.now() - began) / 60_000;
    const { sql } = database;

    await until("every task is over", async () => {
      const [row] = await sql`select count(*)::int as n from task where completed_at is null`;
      return row!.n === 0;
    }, 300);
    const told = () => new Set(receiver.received.map(({ event }) => event.data.task_id));
    await until("every webhook came", () => told().size >= TASKS, 300);

    // Nothing lost, nothing made twice.
    assert.equal(taskIds.size, TASKS);
    const states = await sql<{ status: string; n: number }[]>`
      select status, count(*)::int as n from task group by status`;
    assert.deepEqual(states.map(({ status, n }) => [status, n]), [["succeeded", TASKS]]);
    assert.deepEqual(told(), taskIds);

    // Nothing charged twice: every image once; every chat that was answered, and at most those that a
    // client lost sight of.
    const balance = async (customer: Customer) =>
      JSON.parse((await balancer.call("/v1/balance", customer, undefined)).text);
    const left = await balance(maker);
    assert.equal(Number(left.frozen_balance), 0);
    assert.equal(Number(left.available_balance).toFixed(2), (1000 - TASKS * 0.04).toFixed(2));
    const [settled] = await sql`
      select count(*)::int as n from final_receipt
       where account_id = ${talker.account} and state = 'settled'`;
    assert.ok(settled!.n >= chats && settled!.n <= chats + balancer.unknown, `${settled!.n} paid`);

    // Limits held: a bucket, the rate, and a second of it for each node that there was.
    const most = METERED_RATE + METERED_RATE * minutes + 4 * METERED_RATE / 60;
    assert.ok(passed <= most, `${passed} passed, ${most} may`);
    assert.ok(passed >= Math.min(METERED_RATE, 100), `${passed} passed`);

    const books = await fetch(`${nodes[2]!.address}/admin/v1/ledger/verify`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { ok, checks } = await books.json();
    assert.ok(ok, JSON.stringify(checks));

    // Results lie in the bucket, and any node hands them out.
    const someTask = [...taskIds][0]!;
    const { text } = await balancer.call(`/v1/tasks/${someTask}`, maker, undefined);
    const file = await fetch(JSON.parse(text).output[0].url);
    assert.equal(file.status, 200);
    assert.equal((await file.bytes())[1], "P".charCodeAt(0), "a PNG");
  },
);
