import assert from "node:assert/strict";
import { text as readText } from "node:stream/consumers";
import OpenAI from "openai";
import { serveSimulator, type SimulatorServer } from "./serve.ts";
import { eventsOf, gather, STRICT, user } from "./test_client.ts";
import { sleep } from "../../src/lib/timers.ts";

function post(server: SimulatorServer, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${server.baseUrl}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "chat", ...body }),
    ...init,
  });
}

const told = (directives: string) => ({
  messages: user(`Hello [[simulate: ${directives}]]`),
  stream: true,
});

/** Waits until a caller's leaving has come through. */
async function until(isTrue: () => boolean): Promise<void> {
  const start = performance.now();
  while (!isTrue()) {
    assert.ok(performance.now() - start < 5000, "it did not happen");
    await sleep(5);
  }
}

Deno.test("OpenAI's own client talks to the served simulator", STRICT, async () => {
  await using server = serveSimulator();
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: "none", maxRetries: 1 });
  const chat = client.chat.completions;
  const whole = await chat.create({
    model: "chat",
    messages: [{ role: "user", content: "Tides?" }],
  });
  const stream = chat.stream({
    model: "chat",
    messages: [{ role: "user", content: "Tides?" }],
    stream_options: { include_usage: true },
  });
  const streamed = await stream.finalChatCompletion();
  assert.equal(streamed.choices[0]!.message.content, whole.choices[0]!.message.content);
  assert.deepEqual(streamed.usage, whole.usage);
  const refused = chat.create({
    model: "chat",
    messages: [{ role: "user", content: "[[simulate: status=401]]" }],
  });
  await assert.rejects(refused, OpenAI.AuthenticationError);
  const recovered = await chat.create({
    model: "chat",
    messages: [{ role: "user", content: "[[simulate: fail=1]] Tides?" }],
  });
  assert.equal(recovered.choices[0]!.message.content, whole.choices[0]!.message.content);
});

Deno.test("counters are told, and count clients that leave", STRICT, async () => {
  await using server = serveSimulator();
  for (const directives of ["endless", "hang=1", "pace=60s"]) {
    const before = server.counters.cancelled;
    const response = await post(server, told(directives));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await until(() => server.counters.cancelled === before + 1);
  }
  const silent = post(server, told("hang"), { signal: AbortSignal.timeout(30) });
  await assert.rejects(silent, { name: "TimeoutError" });
  await until(() => server.counters.cancelled === 4);
  const counters = await (await fetch(new URL("/counters", server.baseUrl))).json();
  assert.deepEqual(counters, { started: 4, finished: 0, cancelled: 4 });
});

Deno.test("the headers of a silent stream arrive all the same", STRICT, async () => {
  await using server = serveSimulator();
  const response = await post(server, told("hang=0"));
  assert.equal(response.status, 200);
  await response.body!.cancel();
});

Deno.test("a cut connection breaks for the client", STRICT, async () => {
  await using server = serveSimulator();
  const response = await post(server, told("cut=3 pace=2ms"));
  await assert.rejects(response.text());
  await assert.rejects(async () => await (await post(server, told("refuse"))).text());
});

Deno.test("a server goes away even while a stream goes on", STRICT, async () => {
  let response: Response;
  {
    await using server = serveSimulator({ defaults: "endless" });
    response = await post(server, { messages: user("Hello"), stream: true });
  }
  await assert.rejects(response.text(), "the stream breaks");
  await assert.rejects(fetch(response.url), "nothing listens any more");
});

Deno.test("the program prints its address and obeys --simulate", async () => {
  const program = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-net",
      new URL("serve.ts", import.meta.url).pathname,
      "--port",
      "0",
      "--simulate",
      "tokens=7 batch",
    ],
    stdout: "piped",
  }).spawn();
  const reader = program.stdout.getReader();
  const line = new TextDecoder().decode((await reader.read()).value);
  assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/v1\n$/);
  const response = await fetch(`${line.trim()}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "chat", messages: user("Hello"), stream: true }),
  });
  const events = eventsOf(await readText(response.body!));
  assert.equal(events.length, 10);
  assert.equal(gather(events.slice(0, -1)).finish, "stop");
  program.kill();
  await reader.cancel();
  await program.status;
});
