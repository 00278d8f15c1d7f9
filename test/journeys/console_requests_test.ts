import assert from "node:assert/strict";
import { type ConsoleGateway, openConsole } from "../helpers/console_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Makes a key in the console, and calls the API with it. */
async function openCaller(gateway: ConsoleGateway) {
  const { person } = gateway;
  const made = await person.post("/console/keys", { name: "laptop" });
  await made.body?.cancel();
  const page = await person.read(made.headers.get("location")!);
  const key = /sk-[0-9A-Za-z]{20,}/.exec(page)![0];
  return async function chat(model: string, more: Record<string, unknown> = {}): Promise<string> {
    const res = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-client-request-id": `mine-${model}`,
      },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...more }),
    });
    await res.body?.cancel();
    return res.headers.get("x-request-id")!;
  };
}

/** The text of a page without its tags. */
const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

Deno.test(
  "the console lists requests with filters, and shows one with a link to its receipt",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    assert.ok((await person.read("/console/requests")).includes("No requests yet"));
    const chat = await openCaller(gateway);
    const served = await chat("sim-chat", { user: "<b>eve</b>", metadata: { order: "17" } });
    const refused = await chat("nothing");
    const { sql } = gateway.gateway.database;
    const [{ id: key }] = await sql<[{ id: string }]>`select id from api_key where name = 'laptop'`;
    const found = async (query: string) => {
      const page = await person.read(`/console/requests?${query}`);
      return [served, refused].filter((id) => page.includes(`href="/console/requests/${id}"`));
    };
    assert.deepEqual(await found(""), [served, refused]);
    assert.deepEqual(await found("status=2xx"), [served]);
    assert.deepEqual(await found("status=4xx&model="), [refused]);
    assert.deepEqual(await found("model=sim-chat"), [served]);
    assert.deepEqual(await found(`key=${key}`), [served, refused]);
    assert.deepEqual(await found(`id=${served}`), [served]);
    assert.deepEqual(await found("id=+mine-nothing+"), [refused]);
    assert.deepEqual(await found("from=2026-01-01&to=2026-01-02"), []);
    assert.ok((await person.read("/console/requests?model=x")).includes("No matching requests"));

    const page = await person.read(`/console/requests/${served}`);
    const text = textOf(page);
    for (
      const part of ["POST Chat", "sim-chat", "laptop", "mine-sim-chat", "order: 17", "output"]
    ) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    assert.ok(page.includes("&lt;b&gt;eve&lt;/b&gt;"));
    const receipt = `/console/billing/receipts/${served}`;
    assert.ok(page.includes(`href="${receipt}"`));
    const receiptText = textOf(await person.read(receipt));
    for (const part of [served, "laptop", "order: 17"]) {
      assert.ok(receiptText.includes(part), `${part} in ${receiptText}`);
    }
    const other = await person.read(`/console/requests/${refused}`);
    assert.ok(other.includes("model_unavailable") && !other.includes("View receipt"));
  },
);

Deno.test(
  "a request of the playground is listed without a key, and leads to its task",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const made = await person.post("/console/models/sim-image/run", {
      prompt: "A tide",
      size: "512x512",
      n: "1",
    });
    await made.body?.cancel();
    const task = made.headers.get("location")!;
    const list = await person.read("/console/requests");
    const [, path] = /href="(\/console\/requests\/req_[0-9a-z]+)"/.exec(list)!;
    const page = await person.read(path!);
    assert.ok(page.includes(`href="${task}"`), page);
    assert.match(page, /<dt>API key<\/dt><dd>Console<\/dd>/);
    assert.match(page, /<dt>Charged<\/dt><dd>—<\/dd>/);
  },
);

Deno.test(
  "operators see requests of all accounts and the upstreams; customers see neither",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const chat = await openCaller(gateway);
    const id = await chat("sim-chat");
    const operator = await gateway.register("olga@example.org");
    await operator.makeOperator();
    const list = await operator.read(`/console/operator/requests?account=${person.account}`);
    assert.ok(list.includes(`href="/console/operator/requests/${id}"`));
    assert.ok(list.includes(`href="/console/operator/accounts/${person.account}"`));
    const none = await operator.read("/console/operator/requests?account=acc_none");
    assert.ok(none.includes("No matching requests"));
    const page = await operator.read(`/console/operator/requests/${id}`);
    assert.ok(page.includes("simulator/") && page.includes("Attempts"), page);

    const own = await person.read(`/console/requests/${id}`);
    assert.ok(!own.includes("simulator") && !own.includes("Attempts"));
    for (
      const [visitor, path] of [
        [operator, `/console/requests/${id}`],
        [person, `/console/operator/requests/${id}`],
        [person, "/console/operator/requests"],
        [person, "/console/requests/req_01k8zq4d6f7g8h9j0k1m2n3p4q"],
      ] as const
    ) {
      const res = await visitor.get(path);
      await res.body?.cancel();
      assert.equal(res.status, 404, path);
    }
  },
);

Deno.test(
  "the bodies of a request are on its page, as text, where they are stored",
  STRICT,
  async () => {
    await using gateway = await openConsole({
      added: "logs: { bodies: all, body_bytes_max: 1024 }",
      secretsKey: "k".repeat(32),
    });
    const { person } = gateway;
    const chat = await openCaller(gateway);
    const short = await chat("sim-chat", { user: "<script>alert(1)</script>" });
    const page = await person.read(`/console/requests/${short}`);
    assert.ok(page.includes("Request body") && page.includes("Response body"));
    assert.ok(!page.includes("<script>alert(1)") && page.includes("&lt;script&gt;alert(1)"));
    const long = await chat("sim-chat", { user: "u".repeat(5000) });
    assert.match(
      textOf(await person.read(`/console/requests/${long}`)),
      /Beginning of 5,\d+ bytes/,
    );
    const other = await gateway.register("eve@example.org");
    const refused = await other.get(`/console/requests/${short}`);
    await refused.body?.cancel();
    assert.equal(refused.status, 404);
  },
);
