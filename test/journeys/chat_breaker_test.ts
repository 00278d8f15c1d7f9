import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** An upstream that fails on prompts with a marker, as the marker says, and answers all others. */
function serveUpstream(): AsyncDisposable & { address: string; asked: number } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    upstream.asked++;
    const { messages, stream }: Json = await request.json();
    const marker = /\[(.+)\]/.exec(messages.at(-1).content)?.[1];
    const events = { "content-type": "text/event-stream" };
    switch (marker) {
      case undefined:
        break;
      case "silence":
        await new Promise((resume) => setTimeout(resume, 1_500));
        return new Response(null, { status: 500 });
      case "page":
        return new Response("<html>", { headers: { "content-type": "text/html" } });
      case "cut":
        return new Response('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', {
          headers: events,
        });
      case "fault":
        return new Response('data: {"error":{"message":"worker died"}}\n\n', { headers: events });
      default: {
        const [status, body, pause] = marker.split(" ", 3) as [string, string?, string?];
        return new Response(body ?? "<html>refused</html>", {
          status: Number(status),
          ...(pause === undefined ? {} : { headers: { "retry-after": pause } }),
        });
      }
    }
    if (stream) {
      const delta = '{"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}';
      return new Response(`data: ${delta}\n\ndata: [DONE]\n\n`, { headers: events });
    }
    return Response.json({
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Yes." },
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  const upstream = {
    address: `http://127.0.0.1:${server.addr.port}/v1`,
    asked: 0,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return upstream;
}

/** Models, each an upstream of its own to the circuit breaker. */
const MODELS = Array.from({ length: 18 }, (_, n) => `m${n}`);

const configFor = (address: string) => `
limits: { default: { requests_per_minute: 100000, tokens_per_minute: 100000000 } }
providers: { open: { adapter: openai_compatible, base_url: "${address}" } }
models:${MODELS.map(modelOf).join("")}
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:${MODELS.map(priceOf).join("")}
`;

const modelOf = (id: string) => `
  - id: ${id}
    name: M
    type: chat
    capabilities: [chat, streaming]
    limits: { max_output_tokens: 10 }
    upstreams: [{ provider: open, model: ${id}, timeout_seconds: 1 }]`;

const priceOf = (id: string) => `
      - { model: ${id}, billing_type: token, input_price: "0", output_price: "0", unit: 1K tokens }`;

async function customer(gateway: ChatGateway) {
  const { key } = await gateway.newKey();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return async (content: string, more: Record<string, unknown> = {}) => {
    const res = await gateway.chat(MODELS[0]!, content, more, { headers });
    await res.clone().text();
    return { res, status: res.status };
  };
}

async function stateOf(gateway: ChatGateway): Promise<string> {
  const { data } = await (await gateway.admin("GET", "/providers")).json();
  return data[0].upstreams[0].state;
}

Deno.test(
  "requests made to fail never keep another customer from being served",
  STRICT,
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    const mallory = await customer(gateway);
    const bob = await customer(gateway);
    const carol = await customer(gateway);
    const models = [...MODELS];
    for (
      const [marker, more] of [
        ["500", {}],
        ["500", { stream: true }],
        ["502 bad", {}],
        ["400", {}],
        ["404", {}],
        ["422 {}", {}],
        ["403", {}],
        ["429 {}", {}],
        ["429 {} 60", {}],
        ["429 {} 60", { stream: true }],
        ["498 {}", {}],
        ["503 {}", {}],
        ["529 {} 60", {}],
        ["silence", {}],
        ["page", {}],
        ["page", { stream: true }],
        ["cut", { stream: true }],
        ["fault", { stream: true }],
      ] as const
    ) {
      const label = `${marker} ${JSON.stringify(more)}`;
      const asked = { ...more, model: models.shift()! };
      for (let round = 0; round < 2; round++) {
        await Promise.all(Array.from({ length: 7 }, () => mallory(`[${marker}]`, asked)));
        // Two customers at once, of whom nothing is known yet in the first round.
        const served = await Promise.all([bob("hi", asked), carol("hi", asked), bob("hi", asked)]);
        assert.deepEqual(served.map(({ status }) => status), [200, 200, 200], label);
      }
    }
    await gateway.verify();
  },
);

Deno.test(
  "a status that blames the request counts for no account, whatever its body",
  STRICT,
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    const mallory = await customer(gateway);
    for (const marker of ["400", "400 {}", "404", "413 {}", "415", '422 {"detail":[]}']) {
      for (let n = 0; n < 6; n++) await mallory(`[${marker}]`);
      assert.equal(await stateOf(gateway), "closed", marker);
      assert.equal((await mallory("hi")).status, 200, marker);
    }
  },
);

Deno.test(
  "an upstream that fails for its only customer is paused, then probed and used again",
  STRICT,
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    const alice = await customer(gateway);
    const bob = await customer(gateway);
    assert.equal((await alice("hi")).status, 200);
    for (let n = 0; n < 5; n++) await alice("[500]");
    assert.equal(await stateOf(gateway), "open");
    const { asked } = upstream;
    const { res, status } = await alice("hi");
    const { type } = await errorOf(res);
    assert.deepEqual([status, type, upstream.asked], [503, "model_unavailable", asked]);
    // One whose request fails too is kept out as well; one that is served ends the rest for both.
    assert.equal((await bob("[500]")).status, 503);
    assert.equal((await errorOf((await bob("hi")).res)).type, "model_unavailable");
    assert.equal(upstream.asked, asked + 1);
    assert.equal((await (await customer(gateway))("hi")).status, 200);
    assert.equal((await alice("hi")).status, 200);
    assert.equal(await stateOf(gateway), "closed");
  },
);

Deno.test(
  "an upstream that reports an outage or overload is paused for all accounts",
  STRICT,
  async () => {
    await using upstream = serveUpstream();
    await using gateway = await openChatGateway({ config: configFor(upstream.address) });
    const alice = await customer(gateway);
    const bob = await customer(gateway);
    const carol = await customer(gateway);
    for (const [at, marker] of ["401 {}", "429 {}", "503 {}", "429 {} 60"].entries()) {
      const model = MODELS[at];
      for (let n = 0; n < 5; n++) await alice(`[${marker}]`, { model });
      // A single account may have provoked an overload: it takes a second one that meets it.
      if (at > 0) await bob(`[${marker}]`, { model });
      const { asked } = upstream;
      for (const other of [bob, carol]) {
        const { status } = await other("hi", { model });
        assert.deepEqual([status, upstream.asked], [503, asked], marker);
      }
    }
  },
);
