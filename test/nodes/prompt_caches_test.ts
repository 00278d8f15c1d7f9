import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";

/** Upstreams with names, which note what the user said first in each call; one of them may be made busy. */
function serveUpstreams(names: readonly string[]) {
  const calls: { upstream: string; first: string }[] = [];
  const busy = new Set<string>();
  const servers = names.map((upstream) =>
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const { messages }: Json = await request.json();
      const first = messages.find(({ role }: Json) => role === "user").content;
      calls.push({ upstream, first: typeof first === "string" ? first : first[0].text });
      if (busy.has(upstream)) {
        return new Response("busy", { status: 429, headers: { "retry-after": "1" } });
      }
      const message = { role: "assistant", content: "Yes." };
      return Response.json({
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    })
  );
  return {
    calls,
    busy,
    ports: servers.map(({ addr }) => addr.port),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.shutdown()));
    },
  };
}

const NAMES = ["a", "b", "c"];

const configFor = (ports: readonly number[]) => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
providers: {${
  ports.map((port, at) =>
    `${NAMES[at]}: { adapter: openai_compatible, base_url: "http://127.0.0.1:${port}/v1" }`
  ).join(", ")
}}
models:
  - id: talk
    name: Talk
    type: chat
    capabilities: [chat, streaming]
    limits: { max_output_tokens: 100 }
    upstreams: [${NAMES.map((name) => `{ provider: ${name}, model: m }`).join(", ")}]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: talk, billing_type: token, input_price: "0.001", output_price: "0.002", cached_input_price: "0.0005", unit: 1K tokens }
storage: { queue: postgres, sessions: postgres }
`;

const system = { role: "system", content: "You are an agent." };
const user = (content: string) => ({ role: "user", content });

/** One turn of a conversation by each API. */
const TURNS: readonly ((gateway: ChatGateway, first: string) => Promise<Response>)[] = [
  (gateway, first) =>
    post(gateway, "/chat/completions", { model: "talk", messages: [system, user(first)] }),
  (gateway, first) =>
    post(gateway, "/chat/completions", {
      model: "talk",
      messages: [system, user(first), { role: "assistant", content: "Yes." }, user("And now?")],
    }),
  (gateway, first) =>
    post(gateway, "/messages", {
      model: "talk",
      max_tokens: 50,
      system: system.content,
      messages: [user(first)],
    }),
  async (gateway, first) => {
    const { content: instructions } = system;
    const asked = { model: "talk", instructions };
    const { id }: Json = await (await post(gateway, "/responses", { ...asked, input: first }))
      .json();
    return await post(gateway, "/responses", {
      ...asked,
      previous_response_id: id,
      input: "And now?",
    });
  },
];

Deno.test("the turns of a conversation reach one upstream, by any API and on any node; conversations are spread", async () => {
  await using upstreams = serveUpstreams(NAMES);
  const config = configFor(upstreams.ports);
  await using first = await openChatGateway({ config });
  await using second = await openChatGateway({ config, beside: first });
  const nodes = [first, { ...second, key: first.key }];
  const talks = Array.from({ length: 30 }, (_, at) => `Question ${at}`);
  for (const [at, turn] of TURNS.entries()) {
    for (const [n, talk] of talks.entries()) {
      const res = await turn(nodes[(n + at) % 2]!, talk);
      assert.equal(res.status, 200, await res.text());
    }
  }
  const { calls } = upstreams;
  for (const talk of talks) {
    const reached = new Set(calls.filter((one) => one.first === talk).map((one) => one.upstream));
    assert.equal(reached.size, 1, `${talk} reached ${[...reached]}`);
  }
  for (const name of NAMES) {
    const share = calls.filter(({ upstream }) => upstream === name).length / calls.length;
    assert.ok(share > 0.1 && share < 0.6, `${name}: ${share}`);
  }
});

Deno.test("a conversation moves while the circuit breaker of its upstream is open, and comes back", async () => {
  await using upstreams = serveUpstreams(NAMES);
  await using gateway = await openChatGateway({ config: configFor(upstreams.ports) });
  const ask = async () => {
    const before = upstreams.calls.length;
    const res = await TURNS[0]!(gateway, "Question");
    assert.equal(res.status, 200, await res.text());
    return upstreams.calls.slice(before).map(({ upstream }) => upstream);
  };
  const [own] = await ask();
  upstreams.busy.add(own!);
  const [tried, other] = await ask();
  assert.deepEqual([tried, other === own], [own, false]);
  for (let turn = 0; turn < 3; turn++) assert.deepEqual(await ask(), [other]);
  upstreams.busy.clear();
  await until("it is back", async () => (await ask())[0] === own);
  for (let turn = 0; turn < 3; turn++) assert.deepEqual(await ask(), [own]);
});

Deno.test("prompt_cache_key keeps requests together whose messages differ", async () => {
  await using upstreams = serveUpstreams(NAMES);
  await using gateway = await openChatGateway({ config: configFor(upstreams.ports) });
  const reachedBy = async (key: (at: number) => string) => {
    upstreams.calls.length = 0;
    for (let at = 0; at < 12; at++) {
      const messages = [user(`Question ${at}`)];
      const body = { model: "talk", messages, prompt_cache_key: key(at) };
      await (await post(gateway, "/chat/completions", body)).body?.cancel();
    }
    return new Set(upstreams.calls.map(({ upstream }) => upstream)).size;
  };
  assert.equal(await reachedBy(() => "one"), 1);
  assert.ok(await reachedBy(String) > 1);
});
