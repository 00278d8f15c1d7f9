import assert from "node:assert/strict";
import { run } from "../../src/cli/main.ts";
import { openSimulator } from "../../providers/simulator/simulator.ts";
import { eventsOf, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import type { ChatGateway } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { ADMIN_TOKEN, errorOf, openGateway } from "../helpers/open_gateway.ts";

const idOf = (response: Response) => response.headers.get("x-request-id")!;

/** The row of a response, as its account sees it. */
async function rowOf(gateway: ChatGateway, response: Response): Promise<Json> {
  if (!response.bodyUsed) await response.body?.cancel();
  const found = await gateway.get(`/v1/requests/${idOf(response)}`);
  const row = await found.json();
  assert.equal(found.status, 200, JSON.stringify(row));
  return row;
}

/** The same as an operator sees it. */
async function operatorRow(gateway: ChatGateway, id: string): Promise<Json> {
  const found = await gateway.admin("GET", `/requests/${id}`);
  const row = await found.json();
  assert.equal(found.status, 200, JSON.stringify(row));
  return row;
}

/** The id of the only key. */
async function keyIdOf(gateway: ChatGateway): Promise<string> {
  const [row] = await gateway.gateway.database.sql<[{ id: string }]>`select id from api_key`;
  return row.id;
}

async function list(gateway: ChatGateway, query: Record<string, string> = {}): Promise<Json[]> {
  const res = await gateway.get(`/v1/requests?${new URLSearchParams(query)}`);
  const { data } = await res.json();
  assert.equal(res.status, 200);
  return data;
}

Deno.test("a chat is a row with model, key, tokens, charge, times, user and metadata", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("talk", "Hello", {
    user: "user-7",
    metadata: { order: "17" },
  }, {
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      "x-client-request-id": "mine-1",
    },
  });
  assert.equal(res.status, 200);
  const { usage } = await res.clone().json();
  const receipt = await gateway.receipt(res);
  const row = await rowOf(gateway, res);
  const key = await keyIdOf(gateway);
  assert.ok(Math.abs(row.created - Date.now() / 1000) < 60);
  assert.ok(row.duration_ms >= 0 && row.first_byte_ms <= row.duration_ms);
  const { created: _, duration_ms: _d, first_byte_ms: _f, ...facts } = row;
  assert.deepEqual(facts, {
    bodies: null,
    id: idOf(res),
    object: "request",
    key,
    method: "POST",
    endpoint: "chat",
    model: "talk",
    status: 200,
    error_code: null,
    stream: false,
    usage: {
      input_tokens: usage.prompt_tokens - usage.prompt_tokens_details.cached_tokens,
      cached_input_tokens: usage.prompt_tokens_details.cached_tokens,
      output_tokens: usage.completion_tokens,
      reasoning_tokens: 0,
    },
    charge: receipt.settled,
    currency: "USD",
    client_request_id: "mine-1",
    user: "user-7",
    metadata: { order: "17" },
    task: null,
  });
  assert.ok(Number(row.charge) > 0);
});

Deno.test("an alias is logged as the model that it names", async () => {
  await using gateway = await openChatGateway();
  const row = await rowOf(gateway, await gateway.chat("talk-latest", "Hello"));
  assert.deepEqual([row.status, row.model], [200, "talk"]);
});

Deno.test("a stream's row has its tokens and its charge, and knows the first byte from the end", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("slow", "Hello [[simulate: tokens=20]]", { stream: true });
  assert.equal((await eventsOf(res)).at(-1), "[DONE]");
  const row = await rowOf(gateway, res);
  assert.deepEqual([row.status, row.stream, row.error_code], [200, true, null]);
  assert.equal(row.usage.output_tokens, 20);
  assert.equal(row.charge, (await gateway.receipt(res)).settled);
  // Twenty tokens at 20 ms each follow the first byte.
  assert.ok(row.duration_ms - row.first_byte_ms > 200, JSON.stringify(row));
});

Deno.test("a stream that breaks has status 200 and the code of its error", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("talk", "Hello [[simulate: cut=4]]", { stream: true });
  assert.equal((await eventsOf(res)).at(-1).error.code, "upstream_failed");
  const row = await rowOf(gateway, res);
  assert.deepEqual([row.status, row.error_code], [200, "upstream_failed"]);
  assert.equal(row.charge, (await gateway.receipt(res)).settled);
  const { attempts } = await operatorRow(gateway, row.id);
  assert.deepEqual(attempts.map(({ outcome }: Json) => outcome), ["cut"]);
});

Deno.test("refused requests are rows: 400, 402, 404 and 405", async () => {
  await using gateway = await openChatGateway({ cash: "0" });
  const refused = [
    [await gateway.chat("talk", "Hello", { max_tokens: "many" }), 400, "invalid_value"],
    [await gateway.chat("talk", "Hello"), 402, "insufficient_balance"],
    [await gateway.chat("absent", "Hello"), 404, "model_unavailable"],
    [await gateway.get("/v1/nowhere"), 404, "unknown_endpoint"],
    [await gateway.get("/v1/chat/completions"), 405, "method_not_allowed"],
    [await gateway.get("/v1/models", { "x-client-request-id": "no good" }), 400, "invalid_value"],
  ] as const;
  for (const [res, status, code] of refused) {
    assert.equal(res.status, status);
    const logged = await rowOf(gateway, res);
    assert.deepEqual([logged.status, logged.error_code], [status, code]);
    assert.equal(logged.charge, "0.00");
  }
  assert.equal((await rowOf(gateway, refused[0][0])).model, "talk", "of a body that was refused");
  assert.equal((await rowOf(gateway, refused[2][0])).model, "absent");
  assert.deepEqual(
    [
      (await rowOf(gateway, refused[3][0])).endpoint,
      (await rowOf(gateway, refused[4][0])).endpoint,
    ],
    [null, "chat"],
  );
});

Deno.test("a request above the rate is a row with 429", async () => {
  const config = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
  await using gateway = await openChatGateway({
    config: config.replace("requests_per_minute: 100000", "requests_per_minute: 2"),
  });
  const statuses: number[] = [];
  let last: Response;
  do {
    last = await gateway.get("/v1/models");
    await last.body?.cancel();
    statuses.push(last.status);
  } while (last.status === 200 && statuses.length < 5);
  assert.equal(last.status, 429);
  const { status, error_code, endpoint } = await operatorRow(gateway, idOf(last));
  assert.deepEqual([status, error_code, endpoint], [429, "rate_limit_exceeded", "list_models"]);
});

Deno.test("a request without a valid key is no row, and neither is one outside of /v1", async () => {
  await using gateway = await openChatGateway();
  const others = [
    await gateway.fetch("/v1/models"),
    await gateway.get("/v1/models", { authorization: "Bearer sk-unknown" }),
    await gateway.admin("GET", "/providers"),
    await gateway.fetch("/healthz"),
  ];
  for (const res of others) await res.body?.cancel();
  assert.deepEqual(others.map(({ status }) => status), [401, 401, 200, 200]);
  const { data } = await (await gateway.admin("GET", "/requests")).json();
  assert.deepEqual(data, []);
});

Deno.test("a client that disconnects leaves a row: 499 before the response, a code during a stream", async () => {
  const simulator = openSimulator();
  await using gateway = await openChatGateway({ simulator });
  const before = new AbortController();
  const call = gateway.chat("slow", "Hello [[simulate: latency=5s]]", {}, {
    signal: before.signal,
  });
  await until("the upstream is called", () => simulator.counters.started > 0);
  before.abort();
  await assert.rejects(call);
  await until(
    "the row is there",
    async () => (await list(gateway, { status: "499" })).length === 1,
  );
  const [gone] = await list(gateway, { status: "499" });
  assert.deepEqual([gone.error_code, gone.charge], ["client_disconnected", "0.00"]);
  const { attempts } = await operatorRow(gateway, gone.id);
  assert.deepEqual(attempts.map(({ outcome }: Json) => outcome), ["abandoned"]);

  const during = new AbortController();
  const res = await gateway.chat("slow", "Tell me a long story", { stream: true }, {
    signal: during.signal,
  });
  const reader = res.body!.getReader();
  for (let n = 0; n < 4; n++) await reader.read();
  during.abort();
  await until(
    "the row is there",
    async () => (await list(gateway, { id: idOf(res) })).length === 1,
  );
  const [left] = await list(gateway, { id: idOf(res) });
  assert.deepEqual([left.status, left.error_code], [200, "client_disconnected"]);
  assert.ok(Number(left.charge) > 0);
});

Deno.test("operators see every attempt at an upstream; the account sees none", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("backed", "Hello");
  assert.equal(res.status, 200);
  const row = await rowOf(gateway, res);
  assert.equal(row.attempts, undefined);
  assert.equal(row.account, undefined);
  const { account, attempts } = await operatorRow(gateway, row.id);
  assert.equal(account, gateway.account);
  assert.deepEqual(
    attempts.map(({ provider, model, outcome }: Json) => [provider, model, outcome]),
    [["sick", "chat", "failed"], ["sim", "chat", "ok"]],
  );
  assert.ok(attempts.every(({ duration_ms }: Json) => duration_ms >= 0));
});

Deno.test("404 for a request of another account, and its list does not have it", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("talk", "Hello");
  const { id } = await rowOf(gateway, res);
  const other = await gateway.newKey();
  const asOther = { authorization: `Bearer ${other.key}` };
  for (const unknown of [id, "req_01k8zq4d6f7g8h9j0k1m2n3p4q", "nothing"]) {
    const refused = await gateway.get(`/v1/requests/${unknown}`, asOther);
    assert.equal(refused.status, 404);
    const error = await errorOf(refused);
    assert.deepEqual([error.code, error.param], ["not_found", "id"]);
  }
  for (const query of [`id=${id}`, `account=${gateway.account}`, "model=talk"]) {
    const { data } = await (await gateway.get(`/v1/requests?${query}`, asOther)).json();
    assert.ok(!data.some((each: Json) => each.id === id), query);
  }
});

Deno.test("lists are filtered by time, status, model, key, endpoint and id, and paged", async () => {
  await using gateway = await openChatGateway();
  const client = { "x-client-request-id": "order-17" };
  const first = await gateway.get("/v1/models", client);
  await first.body?.cancel();
  const chat = await gateway.chat("talk", "Hello");
  await chat.body?.cancel();
  const refused = await gateway.chat("absent", "Hello");
  await refused.body?.cancel();
  const [one, two, three] = [idOf(first), idOf(chat), idOf(refused)];
  const ids = async (query: Record<string, string>) =>
    (await list(gateway, { ...query, to: String(Math.ceil(Date.now() / 1000) + 60) }))
      .filter(({ endpoint }) => endpoint !== "requests").map(({ id }) => id);
  const key = await keyIdOf(gateway);
  assert.deepEqual(await ids({}), [three, two, one]);
  assert.deepEqual(await ids({ order: "asc" }), [one, two, three]);
  assert.deepEqual(await ids({ status: "404" }), [three]);
  assert.deepEqual(await ids({ status: "4xx" }), [three]);
  assert.deepEqual(await ids({ status: "2xx" }), [two, one]);
  assert.deepEqual(await ids({ model: "talk" }), [two]);
  assert.deepEqual(await ids({ endpoint: "list_models" }), [one]);
  assert.deepEqual(await ids({ key }), [three, two, one]);
  assert.deepEqual(await ids({ key: "key_none" }), []);
  assert.deepEqual(await ids({ id: two }), [two]);
  assert.deepEqual(await ids({ id: "order-17" }), [one]);
  assert.deepEqual(await ids({ from: "2026-01-01T00:00:00Z" }), [three, two, one]);
  const past = await gateway.get("/v1/requests?to=2026-01-01T00:00:00Z");
  assert.deepEqual((await past.json()).data, []);

  const page = await (await gateway.get("/v1/requests?endpoint=chat&limit=1")).json();
  assert.deepEqual([page.data[0].id, page.has_more, page.last_id], [three, true, three]);
  const next = await (await gateway.get(`/v1/requests?endpoint=chat&limit=1&after=${three}`))
    .json();
  assert.deepEqual([next.data[0].id, next.has_more], [two, false]);
  const all = await (await gateway.admin("GET", `/requests?account=${gateway.account}&limit=100`))
    .json();
  assert.ok([one, two, three].every((id) => all.data.some((each: Json) => each.id === id)));
  const none = await (await gateway.admin("GET", "/requests?account=acc_none")).json();
  assert.deepEqual(none.data, []);
});

Deno.test("400 names the filter that cannot be read", async () => {
  await using gateway = await openChatGateway();
  for (
    const [query, param] of [
      ["status=6xx", "status"],
      ["status=abc", "status"],
      ["from=yesterday", "from"],
      ["after=req_none", "after"],
      ["limit=0", "limit"],
    ] as const
  ) {
    const res = await gateway.get(`/v1/requests?${query}`);
    assert.equal(res.status, 400, query);
    assert.equal((await errorOf(res)).param, param);
  }
});

Deno.test("request list and show on the command line", async () => {
  await using gateway = await openChatGateway();
  const res = await gateway.chat("backed", "Hello");
  await res.body?.cancel();
  const printed: string[] = [];
  const cli = async (...args: string[]) => {
    const { log, error } = console;
    console.log = console.error = (text: unknown) => void printed.push(String(text));
    try {
      return await run(["request", ...args], { GATEWAY_URL: gateway.address, ADMIN_TOKEN });
    } finally {
      Object.assign(console, { log, error });
    }
  };
  assert.equal(await cli("list", "--endpoint", "chat", "--account", gateway.account), 0);
  const line = `${idOf(res)} +${gateway.account} +POST chat +backed +200 .*sick: failed, sim: ok`;
  assert.match(printed.at(-1)!, new RegExp(line));
  assert.equal(await cli("list", "--status", "5xx"), 0);
  assert.equal(printed.at(-1), "No requests.");
  assert.equal(await cli("show", idOf(res), "--json"), 0);
  assert.equal(JSON.parse(printed.at(-1)!).id, idOf(res));
  assert.equal(await cli("show", "req_none"), 1);
  assert.match(printed.at(-1)!, /No request with this id/);
});

Deno.test("Server-Timing tells the gateway's time from the model's, and no name", async () => {
  await using gateway = await openChatGateway();
  const timing = async (response: Response) => {
    await response.body?.cancel();
    return response.headers.get("server-timing")!;
  };
  const chat = await timing(await gateway.chat("talk", "Hello [[simulate: latency=50ms]]"));
  const [, own, upstream] = /^gateway;dur=([\d.]+), upstream;dur=([\d.]+)$/.exec(chat)!;
  assert.ok(Number(upstream) >= 45, chat);
  assert.ok(Number(own) > 0, chat);
  const stream = await timing(
    await gateway.chat("talk", "Hello [[simulate: latency=50ms]]", { stream: true }),
  );
  assert.ok(Number(/upstream;dur=([\d.]+)$/.exec(stream)![1]) >= 45, stream);
  assert.match(await timing(await gateway.get("/v1/models")), /^gateway;dur=[\d.]+$/);
  const unknown = await gateway.fetch("/v1/models");
  assert.equal(unknown.status, 401);
  assert.match(await timing(unknown), /^gateway;dur=[\d.]+$/);
  assert.equal(await timing(await gateway.fetch("/healthz")), null);
});

Deno.test("rows that wait are written when the gateway stops", async () => {
  await using store = await freshDatabase();
  let id: string;
  {
    await using gateway = await openGateway({
      store,
      timing: { requestLog: { gatherMs: 60_000 } },
    });
    const res = await gateway.get("/v1/models");
    await res.body?.cancel();
    id = idOf(res);
    assert.equal((await gateway.gateway.database.sql`select from request`).length, 0);
  }
  await using database = await store.open();
  const rows = await database.sql`select id from request`;
  assert.deepEqual(rows.map((row) => row.id), [id]);
});

Deno.test("a day that is older than logs.keep_days is dropped, also after a reload with fewer days", async () => {
  await using gateway = await openChatGateway({ timing: { retention: { partitionsMs: 50 } } });
  const { sql } = gateway.gateway.database;
  const addDay = async (daysAgo: number) => {
    const [{ name }] = await sql<[{ name: string }]>`
      select 'request_' || to_char((now() - ${daysAgo} * interval '1 day') at time zone 'UTC', 'YYYY_MM_DD') as name`;
    const day = name.slice("request_".length).replaceAll("_", "-");
    await sql.unsafe(`
      create table ${name} partition of request
        for values from ('${day} 00:00:00+00') to (timestamptz '${day} 00:00:00+00' + interval '1 day');`);
    return name;
  };
  const isThere = async (name: string) =>
    (await sql`select to_regclass(${name}) is not null as yes`)[0]!.yes;
  const [old, young] = [await addDay(40), await addDay(10)];
  await until("the old day is dropped", async () => !await isThere(old));
  assert.equal(await isThere(young), true);
  const config = await Deno.readTextFile(gateway.configFile);
  await Deno.writeTextFile(gateway.configFile, `${config}\nlogs: { keep_days: 5 }\n`);
  const reload = await gateway.admin("POST", "/config/reload");
  assert.equal(reload.status, 200, await reload.text());
  await until("the young day is dropped", async () => !await isThere(young));
  const res = await gateway.get("/v1/models");
  assert.equal((await rowOf(gateway, res)).status, 200, "today is there");
});
