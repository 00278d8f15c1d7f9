import assert from "node:assert/strict";
import { openAdapters } from "../providers/registry.ts";
import { recordedFiles, startFakeUpstream } from "./helpers/fake_upstream.ts";
import { type ChatGateway, openChatGateway, until } from "./helpers/chat_gateway.ts";
import { post } from "./helpers/dialects.ts";
import { linesAboveDebug } from "./helpers/logs.ts";

/** Every shipped adapter that serves chat. The simulator's is the one of `openai_compatible`. */
const PROVIDERS = [...openAdapters()]
  .filter(([name, { chat }]) => name !== "simulator" && chat !== undefined)
  .map(([name]) => name);

function configFor(provider: string, baseUrl: string): string {
  return `
limits: { default: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 } }
providers:
  canary-provider: { adapter: ${provider}, base_url: "${baseUrl}", api_key: "\${CANARY_KEY:-sk-canary}", headers: { x-canary: canary-header } }
models:
  - id: our-model
    name: Ours
    type: chat
    capabilities: [chat, streaming, vision, tools, json_schema, reasoning]
    upstreams: [{ provider: canary-provider, model: canary-upstream-model, timeout_seconds: 5, cost: { input_price: "31.41592", output_price: "31.41592", unit: 1M tokens } }]
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: our-model, billing_type: token, input_price: "1", output_price: "1", unit: 1M tokens }] }
`;
}

/** Everything that could tell a client who answers: planted in replies, headers, errors, streams, the configuration. */
function traces(seen: string, upstream: string): string[] {
  const { host } = new URL(upstream);
  return ["canary", "31.41592", host].filter((trace) => seen.toLowerCase().includes(trace));
}

/** Ids of tool calls that are not of our own shape: whose they look like names the provider. */
function foreignCallIds(seen: string): string[] {
  const calls = [...seen.matchAll(/"tool_calls":(\[.*?\])/g)].map(([, calls]) => calls!);
  const ids = calls.flatMap((call) => [...call.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id!));
  const shapes = /toolu_|tooluse_|chatcmpl-tool|functions\.|"fc[-_]/.exec(seen) ?? [];
  return [...ids.filter((id) => id !== "" && !/^call_[A-Za-z0-9]{35}$/.test(id)), ...shapes];
}

/** Requests of the other dialects that ask to see as much as there is. */
const DIALECTS: Readonly<Record<string, object>> = {
  messages: {
    max_tokens: 4000,
    messages: [{ role: "user", content: "Hello" }],
    thinking: { type: "enabled", budget_tokens: 2000 },
  },
  responses: {
    input: "Hello",
    reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
  },
};

/** Ids of calls in other dialects that are not of our own shape. */
function foreignDialectIds(seen: string): string[] {
  const calls = [...seen.matchAll(/"type":"tool_use","id":"([^"]*)"|"call_id":"([^"]*)"/g)];
  const ids = calls.map(([, use, call]) => use ?? call!);
  return ids.filter((id) => id !== "" && !/^call_[A-Za-z0-9]{35}$/.test(id));
}

/** What a client sees of a response in the background that has ended, and of its task. */
async function seenOfBackground(gateway: ChatGateway): Promise<string> {
  const body = { model: "our-model", ...DIALECTS.responses, background: true };
  const created = await post(gateway, "/responses", body);
  const { id } = await created.json();
  let seen = "";
  await until(`${id} has ended`, async () => {
    seen = await (await gateway.get(`/v1/responses/${id}`)).text();
    return !/"status":"(queued|in_progress)"/.test(seen);
  }, 60);
  const tasks = await gateway.get("/v1/tasks?limit=1");
  return `${seen}\n${await tasks.text()}`;
}

for (const provider of PROVIDERS) {
  Deno.test(`nothing of ${provider} shows in Messages and Responses, nor in what is stored`, async () => {
    await using upstream = startFakeUpstream({ pieceBytes: 7 });
    for (const file of recordedFiles(provider).values()) {
      await using gateway = await openChatGateway({
        config: configFor(provider, upstream.url + file.base_path),
      });
      for (const { name, reply } of file.cases) {
        for (const [dialect, body] of Object.entries(DIALECTS)) {
          upstream.answer(reply);
          const stream = reply.events !== undefined;
          const res = await post(gateway, `/${dialect}`, { model: "our-model", ...body, stream });
          const seen = JSON.stringify([...res.headers]) + await res.text();
          assert.deepEqual(traces(seen, upstream.url), [], `${dialect}, ${name}: ${seen}`);
          assert.deepEqual(foreignDialectIds(seen), [], `${dialect}, ${name}: ${seen}`);
        }
      }
      const rows = await gateway.gateway.database.sql`select body from response`;
      assert.deepEqual(traces(JSON.stringify(rows), upstream.url), []);
      const info = linesAboveDebug(gateway.logged()).join("\n");
      assert.deepEqual(traces(info, upstream.url), [], info);
      await gateway.verify();
    }
  });

  Deno.test(`nothing of ${provider} shows in responses in the background, and in their tasks`, async () => {
    await using upstream = startFakeUpstream({ pieceBytes: 7 });
    for (const { base_path, cases } of recordedFiles(provider).values()) {
      // What fails is called again for long; test/journeys/background_responses_test.ts has such a case.
      const whole = cases.filter(({ chunks }) => JSON.stringify(chunks)?.includes('"done":true'));
      if (whole.length === 0) continue;
      await using gateway = await openChatGateway({
        config: configFor(provider, upstream.url + base_path),
      });
      for (const { name, reply } of whole) {
        upstream.answer(reply);
        const seen = await seenOfBackground(gateway);
        assert.deepEqual(traces(seen, upstream.url), [], `${name}: ${seen}`);
        assert.deepEqual(foreignDialectIds(seen), [], `${name}: ${seen}`);
      }
      await gateway.verify();
    }
  });

  Deno.test(`nothing of ${provider} shows in answers, streams, errors, headers or logs`, async () => {
    await using upstream = startFakeUpstream({ pieceBytes: 7 });
    const files = recordedFiles(provider);
    for (const file of files.values()) {
      await using gateway = await openChatGateway({
        config: configFor(provider, upstream.url + file.base_path),
      });
      for (const recorded of file.cases) {
        // What the client itself wrote may come back; only what the upstream adds is looked at.
        const request = { ...recorded.request, model: "our-model" };
        if (JSON.stringify(request).includes("canary")) continue;
        upstream.answer(recorded.reply);
        const res = await gateway.fetch("/v1/chat/completions", {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          body: JSON.stringify(request),
        });
        const seen = JSON.stringify([...res.headers]) + await res.text();
        assert.deepEqual(traces(seen, upstream.url), [], `${recorded.name}: ${seen}`);
        assert.deepEqual(foreignCallIds(seen), [], `${recorded.name}: ${seen}`);
        const receipt = await gateway.get(`/v1/usage/${res.headers.get("x-request-id")}`);
        assert.deepEqual(
          traces(await receipt.text(), upstream.url),
          [],
          `receipt of ${recorded.name}`,
        );
        const row = await gateway.get(`/v1/requests/${res.headers.get("x-request-id")}`);
        assert.equal(row.status, 200);
        assert.deepEqual(traces(await row.text(), upstream.url), [], `row of ${recorded.name}`);
      }
      const list = await (await gateway.get("/v1/requests?limit=100")).text();
      assert.deepEqual(traces(list, upstream.url), [], list);
      const info = linesAboveDebug(gateway.logged()).join("\n");
      assert.deepEqual(traces(info, upstream.url), [], info);
      await gateway.verify();
    }
  });
}
