import assert from "node:assert/strict";
import fc from "fast-check";
import { openSimulator } from "./simulator.ts";
import { answerOf, gather, send, sendStream, sendWhole, STRICT, user } from "./test_client.ts";
import { countTokens } from "./tokens.ts";

const QUESTION = user("How do tides work at the coast of Brittany?");

Deno.test(
  "the same prompt gets the same words, another prompt or seed other ones",
  STRICT,
  async () => {
    const text = async (body: Record<string, unknown>) => answerOf(await sendWhole(body)).text;
    const first = await text({ messages: QUESTION });
    assert.match(first, /simulator/);
    assert.match(first, /Brittany|tides|coast/);
    assert.equal(await text({ messages: QUESTION, temperature: 1.3, user: "someone" }), first);
    assert.notEqual(await text({ messages: QUESTION, seed: 7 }), first);
    assert.notEqual(
      await text({ messages: user("How do tides work at the coast of Wales?") }),
      first,
    );
    assert.equal(
      await text({
        messages: user("How do tides work at the coast of Brittany? [[simulate: pace=0]]"),
      }),
      first,
    );
  },
);

Deno.test("a whole answer has OpenAI's shape and true usage", STRICT, async () => {
  const simulator = openSimulator({ now: () => 1_700_000_000_999 });
  const response = await send({ messages: QUESTION }, { simulator });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  const { id, choices: [{ message, ...choice }], usage, ...rest } = await response.json();
  assert.match(id, /^chatcmpl-\w{29}$/);
  assert.deepEqual(rest, {
    object: "chat.completion",
    created: 1_700_000_000,
    model: "chat",
    service_tier: "default",
    system_fingerprint: "fp_simulator",
  });
  assert.deepEqual(choice, { index: 0, logprobs: null, finish_reason: "stop" });
  assert.deepEqual({ ...message, content: "" }, {
    role: "assistant",
    content: "",
    refusal: null,
    annotations: [],
  });
  assert.ok(usage.completion_tokens >= 60);
  assert.equal(usage.completion_tokens, countTokens(message.content));
  assert.equal(usage.prompt_tokens, countTokens(QUESTION[0]!.content as string) + 6);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
});

Deno.test("a stream tells the whole answer token by token", STRICT, async () => {
  const whole = answerOf(await sendWhole({ messages: QUESTION }));
  const options = { include_usage: true };
  const events = await sendStream({ messages: QUESTION, stream_options: options });
  assert.deepEqual(gather(events), whole);
  assert.equal(events.length, whole.usage.completion_tokens + 4);
  assert.deepEqual(events[0].choices[0].delta, { role: "assistant", content: "", refusal: null });
  assert.equal(events[1].choices[0].delta.content, whole.text.match(/^\w+/)![0]);
  assert.deepEqual(events.at(-3).choices, [
    { index: 0, delta: {}, logprobs: null, finish_reason: "stop" },
  ]);
  assert.ok(events.slice(0, -2).every((event) => event.usage === null));
  assert.deepEqual(events.at(-2).choices, []);
  assert.equal(events.at(-1), "[DONE]");
});

Deno.test("a stream mentions usage only when asked to", STRICT, async () => {
  const events = await sendStream({ messages: QUESTION });
  assert.ok(events.slice(0, -1).every((event) => !("usage" in event)));
});

Deno.test("an answer is cut at the token limit", STRICT, async () => {
  const { text } = answerOf(await sendWhole({ messages: QUESTION }));
  for (const limit of ["max_tokens", "max_completion_tokens"]) {
    const cut = answerOf(await sendWhole({ messages: QUESTION, [limit]: 5 }));
    assert.equal(cut.finish, "length");
    assert.equal(cut.usage.completion_tokens, 5);
    assert.ok(text.startsWith(cut.text));
    assert.equal(countTokens(cut.text), 5);
  }
});

Deno.test(
  "an answer ends before a stop sequence, wherever it lies between tokens",
  STRICT,
  async () => {
    const { text } = answerOf(await sendWhole({ messages: QUESTION }));
    const places = fc.tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: 12 }));
    await fc.assert(fc.asyncProperty(places, fc.boolean(), async ([at, length], isList) => {
      const stop = text.slice(at, at + length);
      const body = { messages: QUESTION, stop: isList ? ["\u0001", stop] : stop };
      const events = await sendStream({ ...body, stream_options: { include_usage: true } });
      const told = gather(events);
      assert.equal(told.text, text.slice(0, text.indexOf(stop)));
      assert.equal(told.finish, "stop");
      assert.equal(told.usage.completion_tokens, countTokens(told.text));
      assert.deepEqual(answerOf(await sendWhole(body)), told);
    }));
  },
);

Deno.test(
  "several choices differ, take turns in a stream and are all counted",
  STRICT,
  async () => {
    const whole = await sendWhole({ messages: QUESTION, n: 3 });
    const events = await sendStream({ messages: QUESTION, n: 3 });
    const texts = [0, 1, 2].map((index) => answerOf(whole, index).text);
    assert.equal(new Set(texts).size, 3);
    assert.deepEqual([0, 1, 2].map((index) => gather(events, index).text), texts);
    assert.deepEqual(events.slice(0, 6).map((event) => event.choices[0].index), [0, 1, 2, 0, 1, 2]);
    assert.equal(
      whole.usage.completion_tokens,
      texts.reduce((sum, text) => sum + countTokens(text), 0),
    );
  },
);

Deno.test("the reasoning model thinks first, and is counted for it", STRICT, async () => {
  const body = { model: "chat-reasoning", messages: QUESTION };
  const told = gather(await sendStream({ ...body, stream_options: { include_usage: true } }));
  assert.deepEqual(answerOf(await sendWhole(body)), told);
  assert.match(told.reasoning, /simulator knows nothing/);
  const { completion_tokens, completion_tokens_details: details } = told.usage;
  assert.equal(details.reasoning_tokens, countTokens(told.reasoning));
  assert.equal(completion_tokens, countTokens(told.reasoning) + countTokens(told.text));

  const brief = answerOf(await sendWhole({ ...body, reasoning_effort: "low" }));
  assert.ok(brief.reasoning.length < told.reasoning.length);
  const none = answerOf(await sendWhole({ ...body, reasoning_effort: "none" }));
  assert.equal(none.reasoning, "");
  const cut = answerOf(await sendWhole({ ...body, max_completion_tokens: 10 }));
  assert.deepEqual([cut.text, cut.finish], ["", "length"]);
  assert.equal(cut.usage.completion_tokens_details.reasoning_tokens, 10);
});

Deno.test("images and files are acknowledged", STRICT, async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const file = { type: "file", file: { file_id: "file-1" } };
  const words = { type: "text", text: "What is this?" };
  const { text, usage } = answerOf(
    await sendWhole({ messages: user([words, image, image, file]) }),
  );
  assert.match(text, /I see 2 images in your message\. I also see one attached file\./);
  assert.ok(usage.prompt_tokens > 3 * 85);
});

Deno.test("a long system prompt counts as cached from the second time on", STRICT, async () => {
  const simulator = openSimulator();
  const messages = [{ role: "system", content: "Be kind. ".repeat(500) }, ...QUESTION];
  const cached = async (body: Record<string, unknown>) =>
    (await sendWhole(body, { simulator })).usage.prompt_tokens_details.cached_tokens;
  assert.equal(await cached({ messages }), 0);
  assert.equal(await cached({ messages }), 1408);
  assert.equal(await cached({ messages: [messages[0], ...user("Something else")] }), 1408);
  assert.equal(await cached({ messages: QUESTION }), 0);
  assert.equal(await cached({ messages: user("x [[simulate: cached=4]]") }), 4);
});

Deno.test("probabilities come with the tokens they belong to", STRICT, async () => {
  const body = { messages: QUESTION, logprobs: true, top_logprobs: 2, max_tokens: 4 };
  const { choices: [{ logprobs, message }] } = await sendWhole(body);
  assert.equal(
    logprobs.content.map(({ token }: { token: string }) => token).join(""),
    message.content,
  );
  assert.ok(
    logprobs.content.every((one: { top_logprobs: unknown[] }) => one.top_logprobs.length === 2),
  );
  const events = await sendStream(body);
  const streamed = events.slice(1, 5).flatMap((event) => event.choices[0].logprobs.content);
  assert.deepEqual(streamed, logprobs.content);
});

Deno.test("the simulator writes exactly as many tokens as it is told to", STRICT, async () => {
  for (const tokens of [1, 97, 3000]) {
    const told = answerOf(await sendWhole({ messages: user(`Go [[simulate: tokens=${tokens}]]`) }));
    assert.equal(told.usage.completion_tokens, tokens);
    assert.equal(told.finish, "stop");
  }
});
